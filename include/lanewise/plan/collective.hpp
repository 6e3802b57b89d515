#pragma once
// Collective operations among several places, in the terms of MPI and NCCL.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

enum class CollectiveOp : std::uint8_t {
  Broadcast,      // the root's data goes to all
  Scatter,        // the root's n-th part goes to the n-th
  Gather,         // the n-th part of the n-th goes to the root
  AllGather,      // the n-th part of the n-th goes to all
  Reduce,         // the root gets the sum of all
  ReduceScatter,  // the n-th gets the sum of all n-th parts
  AllReduce,      // all get the sum of all
  AllToAll,       // the m-th part of the n-th becomes the n-th part of the m-th
  AllToAllV,      // the same with parts of any sizes
  Chain,          // the first's data goes to the second, from there to the third, and so on to the last
};
// Whether one participant has all data, at first or at last.
inline bool has_root(CollectiveOp op) {
  return op == CollectiveOp::Broadcast || op == CollectiveOp::Reduce || op == CollectiveOp::Scatter ||
         op == CollectiveOp::Gather;
}
std::string_view to_string(CollectiveOp op);
std::vector<std::string> collective_op_names();
Parsed<CollectiveOp> parse_collective_op(std::string_view text);

enum class Algorithm : std::uint8_t {
  Auto,             // the fastest by estimate
  Direct,           // every participant with every other
  Ring,             // from neighbour to neighbour, over as many disjoint rings as the links allow
  Tree,             // two binary trees, each with half of the data
  HalvingDoubling,  // recursive halving and doubling (Thakur, Rabenseifner & Gropp 2005); 2^k participants
  Hierarchical,     // within nodes, between nodes, within nodes
  ThroughHost,      // written to host memory once; the participants near it read it there
  PackedTrees,      // shares of the data along several trees that together load links and engines least
  TransferSet,      // every block straight to where it belongs, planned together as a set of transfers
};
std::string_view to_string(Algorithm algorithm);
std::vector<std::string> algorithm_names();
Parsed<Algorithm> parse_algorithm(std::string_view text);

// One planned collective. `bytes` is what one participant holds: for reduce, all_reduce, reduce_scatter and all_to_all
// its whole input; for all_gather its whole result; for broadcast, scatter and gather what the root holds; for chain
// what the first participant holds; for all_to_all_v the largest input.
struct Collective {
  CollectiveOp op = CollectiveOp::AllReduce;
  std::vector<Place> among;
  Bytes bytes{0};
  Algorithm algorithm = Algorithm::Auto;
  std::size_t root = 0;                        // position in `among`
  std::vector<std::vector<Bytes>> sizes = {};  // of all_to_all_v: what the row's participant sends to the column's
  std::size_t pieces = 0;                      // of a chain: how many its data is cut into; 0: the fastest number
  friend bool operator==(Collective const&, Collective const&) = default;
};

// The bytes that a participant holds at first, and those that it receives in an all-to-all.
Bytes held_by(Collective const& collective, std::size_t participant);
Bytes received_by(Collective const& collective, std::size_t participant);
// Whether received data go to separate buffers.
bool has_outputs(CollectiveOp op);

// The bus bandwidth of nccl-tests (its doc/PERFORMANCE.md): bytes over time, times a factor that makes it comparable
// with the rate of one participant's link, whatever their number.
BytesPerSecond bus_bandwidth(Collective const& collective, Seconds makespan);

}  // namespace lanewise
