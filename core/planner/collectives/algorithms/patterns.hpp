#pragma once
// Communication patterns that algorithms are built of. Each runs among `ranks`, some of the schedule's participants in
// a given order. `parts[p]` are the chunks that rank p ends with (reduce_scatter) or begins with (all_gather).
#include <span>
#include <vector>

#include "core/planner/collectives/algorithms/transfer_schedule.hpp"

namespace lanewise {

using Ranks = std::span<std::size_t const>;
using Parts = std::span<Chunks const>;

// n - 1 rounds around a ring (Thakur, Rabenseifner and Gropp, Optimization of collective communication operations in
// MPICH, 2005).
void ring_reduce_scatter(TransferSchedule& schedule, Ranks ranks, Parts parts);
void ring_all_gather(TransferSchedule& schedule, Ranks ranks, Parts parts);
// Everyone with everyone; in each of n - 1 rounds each rank sends to one and receives from one.
void direct_reduce_scatter(TransferSchedule& schedule, Ranks ranks, Parts parts);
void direct_all_gather(TransferSchedule& schedule, Ranks ranks, Parts parts);
// A direct reduce_scatter of several slices at once, of which each begins with another partner: with n - 1 of them,
// where every two ranks have a link of their own, no link is idle, and no two write the same part of a slice at once.
// `slices[s][p]` are the chunks of slice s that rank p ends with.
void mesh_reduce_scatter(TransferSchedule& schedule, Ranks ranks, std::span<std::vector<Chunks> const> slices);
// log2(n) rounds with partners at half or twice the distance of the round before (Thakur et al. 2005). The number of
// ranks must be a power of two.
void recursive_halving_reduce_scatter(TransferSchedule& schedule, Ranks ranks, Parts parts);
void recursive_doubling_all_gather(TransferSchedule& schedule, Ranks ranks, Parts parts);
// Along an in-order binary tree whose root is the middle rank, pipelined chunk by chunk: towards the root, or away.
void tree_reduce(TransferSchedule& schedule, Ranks ranks, Chunks const& chunks);
void tree_broadcast(TransferSchedule& schedule, Ranks ranks, Chunks const& chunks);
// From the first rank to the others along two binary trees that take chunks in turn. It sends each chunk once, and
// inner nodes of one tree are leaves of the other, so that nobody sends more than all data (Sanders, Speck and Träff,
// Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009).
void two_tree_broadcast(TransferSchedule& schedule, Ranks ranks, Chunks const& chunks);
// From the first rank along the chain, pipelined chunk by chunk.
void chain_broadcast(TransferSchedule& schedule, Ranks ranks, Chunks const& chunks);

}  // namespace lanewise
