#pragma once
// Collectives for tests: among GPUs of bundled machines, and legs of packed trees.
#include <string>

#include "core/planner/collectives/trees/packing.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise::test {

inline Machine bundled(std::string const& name) {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  return catalogue.machine(name);
}

// The first `count` GPUs.
inline Collective among(Machine const& machine, CollectiveOp op, std::size_t count, Bytes bytes,
                        Algorithm algorithm = Algorithm::Auto) {
  Collective collective{op, {}, bytes, algorithm, 0};
  for (auto const gpu : machine.all(PciKind::Gpu))
    if (collective.among.size() < count) collective.among.emplace_back(gpu);
  return collective;
}

// Equally many GPUs of each of several nodes.
inline Collective among_nodes(Machine const& machine, CollectiveOp op, std::size_t nodes, std::size_t each,
                              Bytes bytes) {
  Collective collective{op, {}, bytes, Algorithm::Hierarchical, 0};
  for (std::size_t node = 0; node < nodes; ++node)
    for (std::size_t gpu = 0; gpu < each; ++gpu)
      collective.among.push_back(machine.place("node" + std::to_string(node) + "/gpu" + std::to_string(gpu)));
  return collective;
}

// A leg of a rate and nothing else.
inline Leg capped_leg(std::uint32_t from, std::uint32_t to, BytesPerSecond cap = BytesPerSecond(1e9)) {
  return {from, to, {}, Op::Copy, {}, {}, cap};
}

}  // namespace lanewise::test
