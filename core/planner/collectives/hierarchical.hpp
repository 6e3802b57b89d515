#pragma once
// Collectives over groups, each of a node's participants or of those that NVLink joins: within the groups, between
// those who have the same place in them, and within the groups again. Every network interface of a node works then,
// whoever has the data.
#include <vector>

#include "core/planner/collectives/algorithms.hpp"

namespace lanewise {

// In several forms, of which that is best which is through first: between groups by halves, from neighbour to
// neighbour, or along a tree; in one piece, or in slices of which one is between the groups while another is within
// them; or whole groups' parts each by one member, where there are groups enough to keep all members at work. Of many
// participants some of these forms.
// None where the groups are not all as large, or the collective is none of theirs.
std::vector<TransferSchedule> hierarchical_schedules(Collective const& collective, ParticipantLayout const& layout);

}  // namespace lanewise
