#pragma once
// Packed trees as moves: each tree's share in pieces, and who goes first where several trees share a leg.
#include <cstddef>

#include "core/plan/collective.hpp"
#include "core/planner/collectives/transfer_schedule.hpp"
#include "core/planner/collectives/trees/tree_packing.hpp"

namespace lanewise {

// Of a broadcast or all_gather over its participants and so many host memories; each root's part goes in about as many
// pieces.
TransferSchedule packed_schedule(Collective const& collective, Packing const& packing, std::size_t memories,
                                 std::size_t pieces);

}  // namespace lanewise
