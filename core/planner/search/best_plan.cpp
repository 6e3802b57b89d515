#include "core/planner/search/best_plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/planner/search/draft_search.hpp"
#include "core/planner/search/host_paths.hpp"
#include "core/planner/search_limits.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

bool reach_host_by_nvlink(OpenTransfer const& transfer, Machine const& machine) {
  auto const reaches = [&](Place const& place) {
    auto const gpu = gpu_at(machine, place);
    return gpu && cpu_link(machine, *gpu);
  };
  return reaches(transfer.from) && reaches(transfer.to);
}

// Whether a legal option is no useful second way for a transfer that goes `default_option` otherwise.
bool is_useless(TransferOption const& option, TransferOption const& default_option, OpenTransfer const& transfer,
                Machine const& machine) {
  auto const mechanism = option.way.mechanism;
  auto const default_mechanism = default_option.way.mechanism;
  if (mechanism == Mechanism::BarCopy) return true;  // a core copies 0.44 GB/s
  // Over PCIe, kernels that read and write host memory beside others are slow: on 2 x H200 one GPU's kernels moved
  // 71 GB/s both ways where its copy engines move 97.
  if (option.op != transfer.op && goes_through_host(option) && !reach_host_by_nvlink(transfer, machine)) return true;
  // Uses the links and engines of the staged way, but fewer of them.
  if (mechanism == Mechanism::SharedHost && default_mechanism != Mechanism::SharedHost) return true;
  if (mechanism != Mechanism::PcieP2p) return false;
  if (transfer.op == Op::Read && option.way.drive == Drive::Push) return true;
  return default_mechanism != Mechanism::PcieP2p && machine.all(PciKind::Gpu).size() > kSearchLimits.max_pcie_peers + 1;
}

TransferSet useful_options(Plan const& base, Model const& model) {
  return without_options(transfer_set(base, model), [&](auto const& option, auto const& kept, auto const& transfer) {
    return is_useless(option, kept, transfer, model.machine());
  });
}

bool any_goes_by_nvlink(TransferSet const& set) {
  for (std::size_t i = 0; i < set.transfers.size(); ++i)
    if (goes_by_nvlink(set.transfers[i].options[set.default_option[i]])) return true;
  return false;
}

}  // namespace

Plan find_best_plan(Plan const& base, Model const& model, Aim aim, double wanted) {
  auto with_host = useful_options(base, model);
  std::optional<TransferSet> by_nvlink_only;  // of the transfers that go by NVLink
  if (any_goes_by_nvlink(with_host))
    by_nvlink_only = without_options(with_host, [](auto const& option, auto const& kept, auto const&) {
      return goes_by_nvlink(kept) && goes_through_host(option);
    });
  auto const& without_host = by_nvlink_only ? *by_nvlink_only : with_host;
  Evaluation of_base;
  of_base.steps = base.steps;
  for (std::size_t i = 0; i < base.steps.size(); ++i) of_base.origins.push_back({i, without_host.default_option[i]});
  of_base.run = estimate(model, of_base.steps);
  DraftSearch search(without_host, model, aim);
  auto const base_value = search.value_of(of_base);
  auto best = search.run(base_value, wanted);
  auto const plan_without_host = [&] {
    return best.evaluation.steps.empty() ? base : plan_of(without_host, base, std::move(best.evaluation));
  };
  if (!by_nvlink_only) return plan_without_host();
  auto const without = search.least_expected(best.value);
  auto const margin = host_path_margin(with_host, model, aim.objective);
  if (!margin.model.assumed().is_nominal()) with_host = useful_options(base, margin.model);
  bool const has_time = aim.effort == Effort::Full || without_host.transfers.size() <= kSearchLimits.small_set;
  if (has_time && !needs_host(without_host) &&
      (aim.objective == Objective::Slowdown || may_gain_from_host(without_host, with_host, margin, without))) {
    auto const wanted_with_host = std::min(wanted, margin.longest_acceptable(without).value());
    auto best_with_host = DraftSearch(with_host, margin.model, aim).run(base_value, wanted_with_host);
    if (!best_with_host.evaluation.steps.empty() && best_with_host.value <= wanted_with_host)
      return plan_of(with_host, base, std::move(best_with_host.evaluation));
  }
  return plan_without_host();
}

}  // namespace lanewise
