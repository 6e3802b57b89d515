#include "core/planner/collectives/algorithms/hierarchical.hpp"

#include <bit>
#include <utility>

#include "core/planner/collective_limits.hpp"
#include "core/planner/collectives/algorithms/algorithms.hpp"
#include "core/planner/collectives/algorithms/group_exchange.hpp"
#include "core/planner/collectives/algorithms/rooted_groups.hpp"

namespace lanewise {
namespace {

bool is_exchange(Collective const& collective) {
  return has_reduce_scatter(collective.op) || has_all_gather(collective.op);
}

TransferSchedule schedule_by(Collective const& collective, ParticipantLayout const& layout, InterGroupPattern pattern,
                             std::size_t slices, IntraGroupPattern within) {
  return is_exchange(collective) ? group_exchange(collective, layout, pattern, slices, within)
                                 : rooted_groups(collective, layout, pattern, slices);
}

// The patterns worth trying. A scatter or gather forwards nothing between groups, so any one will do.
std::vector<InterGroupPattern> patterns_for(Collective const& collective, std::size_t groups) {
  using enum InterGroupPattern;
  if (collective.op == CollectiveOp::Scatter || collective.op == CollectiveOp::Gather) return {Ring};
  if (collective.op == CollectiveOp::Broadcast)
    return groups > 2 ? std::vector{Ring, Tree, TwoTrees} : std::vector{Ring};
  if (!std::has_single_bit(groups)) return {Ring};
  return groups <= kCollectiveLimits.ring_max_groups ? std::vector{Halving, Ring} : std::vector{Halving};
}

bool can_be_hierarchical(Collective const& collective, ParticipantLayout const& layout) {
  if (collective.op == CollectiveOp::AllToAll || collective.op == CollectiveOp::AllToAllV ||
      collective.op == CollectiveOp::Chain || layout.groups.size() < 2)
    return false;
  auto const size = layout.groups.front().size();
  for (auto const& group : layout.groups)
    if (group.size() != size || size < 2) return false;
  return true;
}

// Appends the variants by one pattern: in one piece and in slices.
void append_variants(Collective const& collective, ParticipantLayout const& layout, InterGroupPattern pattern,
                     IntraGroupPattern within, std::vector<TransferSchedule>& all) {
  bool const many = collective.among.size() > kCollectiveLimits.all_slices_max_participants;
  bool const exchanging = is_exchange(collective);
  bool const at_once = within == IntraGroupPattern::AllAtOnce;
  if (!at_once) all.push_back(schedule_by(collective, layout, pattern, 1, within));
  // Counted with two slices: with one, chunks of the same position may be neighbours and be sent as one.
  auto const transfers_of_slice = schedule_by(collective, layout, pattern, 2, within).transfers().size() / 2;
  auto const max_transfers = !many        ? kCollectiveLimits.max_transfers
                             : exchanging ? kCollectiveLimits.max_transfers_of_many
                                          : kCollectiveLimits.max_transfers_of_many / 2;
  std::vector<std::size_t> slice_counts;
  for (auto slices : kCollectiveLimits.slices) {
    if (at_once) slices = slices_at_once(slices, layout.groups.front().size());
    auto const chunks = static_cast<std::int64_t>(GroupedSchedule::chunks_of_slice(collective, layout, slices));
    if (slices * transfers_of_slice <= max_transfers &&
        collective.bytes >= kCollectiveLimits.min_slice_chunk * (chunks * static_cast<std::int64_t>(slices)))
      slice_counts.push_back(slices);
  }
  if (many && exchanging && !slice_counts.empty()) {
    slice_counts = {slice_counts.back()};
    if (!at_once && transfers_of_slice > kCollectiveLimits.max_transfers) all.pop_back();
  }
  for (auto const slices : slice_counts) all.push_back(schedule_by(collective, layout, pattern, slices, within));
}

}  // namespace

std::vector<TransferSchedule> hierarchical_schedules(Collective const& collective, ParticipantLayout const& layout) {
  // Only members whose numbers every group has take part in the exchange between groups.
  if (collective.op == CollectiveOp::AllReduce && !layout.common_groups.empty()) {
    auto of_one_size = layout;
    of_one_size.groups = std::exchange(of_one_size.common_groups, {});
    return hierarchical_schedules(collective, of_one_size);
  }
  if (!can_be_hierarchical(collective, layout)) return {};
  std::vector<TransferSchedule> all;
  auto const groups = layout.groups.size();
  if (auto const runs = runs_per_group(collective, groups, layout.groups.front().size())) {
    all.push_back(group_exchange(collective, layout, InterGroupPattern::WholeGroups, *runs));
    if (collective.among.size() > kCollectiveLimits.all_slices_max_participants) return all;
  }
  for (auto const pattern : patterns_for(collective, groups)) {
    append_variants(collective, layout, pattern, IntraGroupPattern::InTurn, all);
    if (layout.groups_are_meshes && has_reduce_scatter(collective.op))
      append_variants(collective, layout, pattern, IntraGroupPattern::AllAtOnce, all);
  }
  return all;
}

}  // namespace lanewise
