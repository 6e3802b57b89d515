#pragma once
// The trees that go with NCCL's rings (src/graph/search.cc).
#include "core/planner/libraries/nccl/graph_search.hpp"

namespace lanewise::nccl {

// The rate of the trees that go with rings: as many channels. Within one node a chain leaves out one of the ring's
// links, and each channel's starts at the next GPU, so that they share that room. Between two nodes NCCL raises what
// trees carry within a node while that is below twice what they carry to the NIC, and then counts with it.
double tree_rate(Graph const& rings, Topology const& topology, std::size_t nodes, Library const& library);

// The rate of plain chains that go with rings between any number of nodes, raised within a node in the same way.
double chain_rate(Graph const& rings, Topology const& topology, Library const& library);

// Whether the trees of several nodes are plain: of Hopper and later, where no second GPU is as near to a channel's NIC
// as the search allows. Otherwise two GPUs share what a tree carries to the NIC (NCCL's balanced tree).
bool trees_are_plain(Graph const& rings, Topology const& topology);

}  // namespace lanewise::nccl
