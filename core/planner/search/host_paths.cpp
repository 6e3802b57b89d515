#include "core/planner/search/host_paths.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "core/planner/search_limits.hpp"
#include "core/planner/sets/load_balance.hpp"
#include "lanewise/model/resources/parameter.hpp"

namespace lanewise {

bool goes_through_host(TransferOption const& option) {
  return option.way.mechanism == Mechanism::HostStaged || option.way.mechanism == Mechanism::SharedHost;
}
bool goes_by_nvlink(TransferOption const& option) { return option.way.mechanism == Mechanism::Nvlink; }
bool may_go_by_nvlink(OpenTransfer const& transfer) {
  return std::any_of(transfer.options.begin(), transfer.options.end(), goes_by_nvlink);
}

HostPathMargin host_path_margin(TransferSet const& set, Model const& model, Objective objective) {
  auto const& limits = kSearchLimits;
  if (objective != Objective::Makespan) return {model, limits.min_host_path_gain, {}};
  if (set.transfers.size() == 1)
    return {model, limits.min_host_path_gain_if_predictable, limits.min_host_path_seconds_if_predictable};
  bool const is_predictable = set.transfers.size() <= limits.small_set && model.assumed().is_nominal() &&
                              std::all_of(set.transfers.begin(), set.transfers.end(), may_go_by_nvlink);
  if (!is_predictable) return {model, limits.min_host_path_gain, {}};
  auto const& slow_links = parameter_ranges()[static_cast<std::size_t>(Parameter::LinkUtilisation)];
  return {model.with_assumptions({slow_links.parameter, slow_links.low}), limits.min_host_path_gain_if_predictable,
          limits.min_host_path_seconds_if_predictable};
}

bool may_gain_from_host(TransferSet const& without_host, TransferSet const& with_host, HostPathMargin const& margin,
                        double seconds) {
  bool any = false;
  std::vector<SetMember> first;  // transfers that wait for none
  for (std::size_t i = 0; i < with_host.transfers.size(); ++i) {
    auto const& transfer = with_host.transfers[i];
    any = any || transfer.options.size() > without_host.transfers[i].options.size();
    if (with_host.depth[i] == 0 && transfer.bytes > Bytes(0)) first.push_back({&transfer, with_host.default_option[i]});
  }
  if (!any) return false;
  if (first.size() < with_host.transfers.size()) return true;
  return can_balance_within(margin.longest_acceptable(seconds), first, margin.model);
}

bool needs_host(TransferSet const& set) {
  auto const is_memory = [](Place const& place) { return std::holds_alternative<NumaId>(place); };
  for (std::size_t i = 0; i < set.transfers.size(); ++i) {
    auto const& transfer = set.transfers[i];
    if (is_memory(transfer.from) || is_memory(transfer.to) ||
        (goes_through_host(transfer.options[set.default_option[i]]) && !may_go_by_nvlink(transfer)))
      return true;
  }
  return false;
}

}  // namespace lanewise
