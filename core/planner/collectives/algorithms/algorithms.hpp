#pragma once
#include <vector>

#include "core/planner/collectives/algorithms/participant_layout.hpp"
#include "core/planner/collectives/algorithms/transfer_schedule.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise {

// Whether the op consists of, or begins with, a reduce_scatter; and whether it consists of, or ends with, an
// all_gather. An all_reduce is both.
inline bool has_reduce_scatter(CollectiveOp op) {
  return op == CollectiveOp::ReduceScatter || op == CollectiveOp::AllReduce;
}
inline bool has_all_gather(CollectiveOp op) { return op == CollectiveOp::AllGather || op == CollectiveOp::AllReduce; }

// The transfers of a collective by an algorithm, in every variant that the algorithm has. Empty if it cannot do the
// collective: no reductions among uneven groups, halving_doubling only among a power of two. A pure function; check.hpp
// proves its results.
std::vector<TransferSchedule> schedules_of(Collective const& collective, Algorithm algorithm,
                                           ParticipantLayout const& layout);

// The chunks of each rank if every participant has `chunks_each` neighbouring ones; of those, every `rings`-th from
// number `ring` on.
std::vector<Chunks> parts_of(std::vector<std::size_t> const& ranks, std::size_t chunks_each, std::size_t ring = 0,
                             std::size_t rings = 1);
// 0, 1, ..., count - 1.
std::vector<std::size_t> all_ranks(std::size_t count);

}  // namespace lanewise
