#pragma once
// What several places do with their data together, in the words of MPI and NCCL.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.hpp"

namespace lanewise {

enum class CollectiveOp : std::uint8_t {
  Broadcast,      // the root's data goes to all
  Scatter,        // the root's n-th part goes to the n-th
  Gather,         // the n-th part of the n-th goes to the root
  AllGather,      // the n-th part of the n-th goes to all
  ReduceScatter,  // the n-th gets the sum of all n-th parts
  AllReduce,      // all get the sum of all
  AllToAll,       // the m-th part of the n-th becomes the n-th part of the m-th
  AllToAllV,      // the same with parts of any sizes
  Chain,          // the first's data goes on to the second, from there to the third, and so to the last
};
std::string_view to_string(CollectiveOp op);
std::vector<std::string> collective_op_names();
Parsed<CollectiveOp> parse_collective_op(std::string_view text);

enum class Algorithm : std::uint8_t {
  Auto,             // the fastest by estimate
  Direct,           // everyone with everyone
  Ring,             // from neighbour to neighbour, over as many disjoint rings as the links give
  Tree,             // two binary trees, each with half of the data
  HalvingDoubling,  // with a partner at half the distance every round; a power of two of participants
  Hierarchical,     // within nodes, between them, within nodes
  ThroughHost,      // written to host memory once, from where all near it read
  PackedTrees,      // along as many trees, each with its share, as take least of links and engines together
};
std::string_view to_string(Algorithm algorithm);
std::vector<std::string> algorithm_names();
Parsed<Algorithm> parse_algorithm(std::string_view text);

// One collective as it was planned. `bytes` is what one participant holds: all_reduce, reduce_scatter and all_to_all
// its whole input; all_gather its whole result; broadcast, scatter and gather what the root holds; chain what the first
// does; all_to_all_v the largest input.
struct Collective {
  CollectiveOp op = CollectiveOp::AllReduce;
  std::vector<Place> among;
  Bytes bytes{0};
  Algorithm algorithm = Algorithm::Auto;
  std::size_t root = 0;                        // position in `among`
  std::vector<std::vector<Bytes>> sizes = {};  // of all_to_all_v: what the row's participant sends to the column's
  std::size_t pieces = 0;                      // of a chain: in how many the data goes on; 0: as many as are fastest
  friend bool operator==(Collective const&, Collective const&) = default;
};

// What a participant holds at first, and of all-to-alls what it receives beside that.
Bytes held_by(Collective const& collective, std::size_t participant);
Bytes received_by(Collective const& collective, std::size_t participant);
// Whether what is received lies in a buffer of its own.
bool has_outputs(CollectiveOp op);

// Bytes over time, times what makes it comparable with the rate of one participant's link whatever their number: the
// bus bandwidth of nccl-tests (its doc/PERFORMANCE.md).
BytesPerSecond bus_bandwidth(Collective const& collective, Seconds makespan);

}  // namespace lanewise
