#pragma once
#include <vector>

#include "core/planner/collectives/algorithms/participant_layout.hpp"
#include "core/planner/collectives/algorithms/transfer_schedule.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise {

// A collective in three phases: inside groups (nodes, or GPUs that NVLink joins), between the members with the same
// position in their groups, and inside groups again. So all NICs of a node carry its traffic, whichever GPU holds the
// data.
//
// Returns several variants to choose from by their time: between groups by recursive halving, along a ring or along a
// tree; in one piece or in slices, so that one slice is between groups while another is inside them; and, where there
// are enough groups to keep all members busy, with the data of whole groups carried by one member at a time. Among many
// participants only some of these. Empty if the groups are not all of the same size, at least two (of an
// all-reduce: if they have fewer than two positions in common), and for chains and all-to-alls.
std::vector<TransferSchedule> hierarchical_schedules(Collective const& collective, ParticipantLayout const& layout);

}  // namespace lanewise
