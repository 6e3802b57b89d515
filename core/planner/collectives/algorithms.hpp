#pragma once
// The algorithms of collectives: from the participants' number and layout to moves. Pure functions; check.hpp proves
// what they make.
#include <optional>
#include <vector>

#include "core/plan/collective.hpp"
#include "core/planner/collectives/transfer_schedule.hpp"
#include "core/planner/collectives/trees/tree_packing.hpp"

namespace lanewise {

inline bool has_reduce_scatter(CollectiveOp op) {
  return op == CollectiveOp::ReduceScatter || op == CollectiveOp::AllReduce;
}
inline bool has_all_gather(CollectiveOp op) { return op == CollectiveOp::AllGather || op == CollectiveOp::AllReduce; }

// The participants whose own host memory this is.
struct NearMemory {
  NumaId memory{};
  std::vector<std::size_t> participants;
};

// What an algorithm needs to know of where the participants are.
struct ParticipantLayout {
  std::vector<std::vector<std::size_t>> rings;   // orders of all participants, over links that no other ring uses
  std::vector<std::vector<std::size_t>> groups;  // those of one node by node, or joined by NVLink
  std::size_t chunks = 1;                        // pieces of what goes down chains and trees one after another
  std::vector<NearMemory> near;    // the m-th memory is participant n + m of a move. Empty: a participant is no GPU, or
                                   // of another node
  std::optional<Packing> packing;  // over the participants and these memories; parts go in so many chunks
};

// In every way that the algorithm does it; none where it does not: reductions among uneven groups, a number that is no
// power of two.
std::vector<TransferSchedule> schedules_of(Collective const& collective, Algorithm algorithm,
                                           ParticipantLayout const& layout);

}  // namespace lanewise
