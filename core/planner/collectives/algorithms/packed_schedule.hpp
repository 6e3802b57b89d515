#pragma once
#include <cstddef>

#include "core/planner/collectives/algorithms/transfer_schedule.hpp"
#include "core/planner/collectives/trees/packing.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise {

// A broadcast or all_gather along packed trees, over the participants and `memories` host memories. Each root's part is
// divided among its trees in proportion to their bytes, in about `pieces` pieces in all; the list scheduler orders them
// on every leg.
TransferSchedule packed_schedule(Collective const& collective, Packing const& packing, std::size_t memories,
                                 std::size_t pieces);

}  // namespace lanewise
