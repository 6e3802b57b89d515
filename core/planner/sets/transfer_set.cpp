#include "core/planner/sets/transfer_set.hpp"

#include <map>

#include "core/plan/dag.hpp"

namespace lanewise {
namespace {

// Among equals every source begins with another target: the next place first, then the one after it. This is the
// rotation of pairwise all-to-all algorithms (Thakur, Rabenseifner and Gropp, 2005).
std::vector<std::size_t> tie_breaks_of(std::vector<OpenTransfer> const& transfers) {
  std::map<Place, std::size_t> rank;
  for (auto const& transfer : transfers) {
    rank.emplace(transfer.from, 0);
    rank.emplace(transfer.to, 0);
  }
  std::size_t next = 0;
  for (auto& [place, number] : rank) number = next++;
  auto const count = rank.size();
  std::vector<std::size_t> tie_breaks;
  for (auto const& transfer : transfers) {
    auto const from = rank.at(transfer.from);
    tie_breaks.push_back((rank.at(transfer.to) + count - from) % count * count + from);
  }
  return tie_breaks;
}

bool is_indivisible(OpenTransfer const& transfer, Way const& way) {
  return way.by_driver || way.pageable || way.access.each > Bytes(0) || transfer.op == Op::Atomic ||
         migrates(transfer.op) || transfer.bytes == Bytes(0);
}

}  // namespace

TransferSet transfer_set(Plan const& plan, Model const& model) {
  TransferSet set;
  set.transfers = open_transfers(plan, model);
  for (std::size_t i = 0; i < set.transfers.size(); ++i) {
    auto& transfer = set.transfers[i];
    auto const chosen =
        std::find_if(transfer.options.begin(), transfer.options.end(),
                     [&](TransferOption const& option) { return option.candidate == plan.decisions[i].chosen; });
    set.default_option.push_back(static_cast<std::size_t>(chosen - transfer.options.begin()));
    set.is_indivisible.push_back(is_indivisible(transfer, chosen->way));
    if (!set.is_indivisible.back()) continue;
    transfer.options = {*chosen};
    set.default_option.back() = 0;
  }
  set.depth = levels(dag_of_after(set.transfers));
  set.tie_break = tie_breaks_of(set.transfers);
  return set;
}

std::vector<std::size_t> first_options(TransferSet const& set) {
  std::vector<std::size_t> first{0};
  for (auto const& transfer : set.transfers) first.push_back(first.back() + transfer.options.size());
  return first;
}

}  // namespace lanewise
