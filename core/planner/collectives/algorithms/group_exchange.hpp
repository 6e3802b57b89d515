#pragma once
#include "core/planner/collectives/algorithms/grouped_schedule.hpp"

namespace lanewise {

// An all_gather, reduce_scatter or all_reduce among groups of equal size: a direct reduce_scatter inside each group,
// the exchange between groups, a direct all_gather inside each group; each where the op needs it.
TransferSchedule group_exchange(Collective const& collective, ParticipantLayout const& layout,
                                InterGroupPattern pattern, std::size_t slices,
                                IntraGroupPattern within = IntraGroupPattern::InTurn);

// The number of runs into which an all_gather or reduce_scatter by InterGroupPattern::WholeGroups should divide what
// belongs to a group, so that nearly all members always have a run to carry. Nullopt for other collectives, and if
// there are so few groups that this would save no transfers.
std::optional<std::size_t> runs_per_group(Collective const& collective, std::size_t groups, std::size_t group_size);

}  // namespace lanewise
