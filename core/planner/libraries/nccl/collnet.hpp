#pragma once
// CollNet: NCCL's collectives whose sums the network's switches add up, by SHARP (NCCL_COLLNET_ENABLE=1). Of each node
// some GPUs, the heads, send what the others have given them to the switches, and get the sum of all nodes.
#include <optional>
#include <string>
#include <vector>

#include "core/planner/libraries/nccl/graph_search.hpp"

namespace lanewise::nccl {

struct CollNet {
  Graph direct;         // a channel for each head, perhaps twice: its GPU and NIC
  double chain_rate{};  // GB/s that a chain of GPUs has within a node, in each of the ring's channels
};

// Of a node, how many GPUs pass data to the switches.
std::size_t head_count(CollNet const& collnet);

// What keeps CollNet from these nodes; nullopt: nothing does. `topology`: of the first of them.
std::optional<std::string> why_no_collnet(Machine const& machine, std::vector<std::vector<PciId>> const& nodes,
                                          Topology const& topology, Graph const& rings, Environment const& environment);

// NCCL's search for the heads (src/graph/search.cc), and the rate of chains beside them.
CollNet search_collnet(Topology const& topology, Graph const& rings, Library const& library);

}  // namespace lanewise::nccl
