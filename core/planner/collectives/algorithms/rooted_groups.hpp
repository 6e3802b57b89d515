#pragma once
#include "core/planner/collectives/algorithms/grouped_schedule.hpp"

namespace lanewise {

// A broadcast, scatter or gather among groups of equal size: the root hands each member of its own group a part of the
// data, which that member sends to the members with its position in the other groups (a gather does the reverse). So
// all NICs of the root's node carry its data. `pattern`, Ring or Tree, says how a broadcast goes from group to group.
TransferSchedule rooted_groups(Collective const& collective, ParticipantLayout const& layout, InterGroupPattern pattern,
                               std::size_t slices);

}  // namespace lanewise
