#pragma once
// RCCL's choice of algorithm and protocol between nodes: the estimates by which it ranks ring and tree (src/graph/
// tuning.cc), then a protocol by what each rank holds (src/rccl_wrap.cc). The estimates rank; they are no prediction of
// ours. Source: ROCm/rocm-systems, projects/rccl, commits 03a89144 and 006a440c.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/planner/libraries/steps/protocol.hpp"
#include "lanewise/plan/collective.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise::rccl {

enum class AlgorithmKind : std::uint8_t { Tree, Ring };
using lanewise::to_string;
std::string_view to_string(AlgorithmKind algorithm);  // Tree, Ring

// Chips with a table of their own: MI300X and MI325X (gfx942), MI350X and MI355X (gfx950).
enum class Chip : std::uint8_t { Gfx942, Gfx950 };

// Who takes part.
struct Communicator {
  std::size_t nodes = 1;
  std::size_t per_node = 0;
  Chip chip{};
  bool has_amd_cpu = true;
};

struct Choice {
  AlgorithmKind algorithm{};
  Protocol protocol{};
};

// Of an op among several nodes; `bytes`: the larger of what a rank sends and receives.
Choice choose(CollectiveOp op, double bytes, Communicator const& communicator);

// What RCCL counts for the launch, for a step over xGMI and for one over a network.
struct Latencies {
  Seconds base, link_step, network_step;
};
Latencies latencies(AlgorithmKind algorithm, Protocol protocol);

}  // namespace lanewise::rccl
