#pragma once
// The rates that NCCL's search gives a channel, and what one takes of a link (src/graph/search.cc).
#include <cstdint>
#include <vector>

#include "core/planner/libraries/nccl/topology.hpp"

namespace lanewise::nccl {

// GB/s that are tried for GPUs of this compute capability (90: Hopper), from high to low.
std::vector<double> speeds(int capability, bool several_nodes, Library const& library);

// What a channel of `speed` takes of a link of a path that starts at a GPU, in GB/s.
double share_of(Topology const& topology, Path const& path, std::uint32_t link, double speed);

}  // namespace lanewise::nccl
