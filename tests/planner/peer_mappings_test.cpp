// Which GPUs map one another where each may map only so many.
#include "core/planner/peer_mappings.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/machines.hpp"

namespace lanewise {
namespace {

using test::machine_from;

// Each GPU below a root port of its own.
Machine machine_with_gpus(int gpus, std::string const& limit) {
  std::string ports;
  for (int i = 0; i < gpus; ++i) ports += fmt::format("      - {{root_port: rp{0}, gpu: gpu{0}, part: gpu}}\n", i);
  return machine_from(R"(lanewise: machine/1
machine: many
parts:
  cpu: {kind: cpu, vendor: amd}
  gpu: {kind: gpu, vendor: nvidia)" +
                      limit + R"(}
sockets:
  - socket: cpu0
    part: cpu
    pcie:
)" + ports);
}

std::vector<PeerPair> all_pairs(Machine const& machine) {
  std::vector<PeerPair> pairs;
  auto const gpus = machine.all(PciKind::Gpu);
  for (auto const one : gpus)
    for (auto const other : gpus)
      if (one != other) pairs.emplace_back(one, other);
  return pairs;
}

TEST(PeerMappings, AreSpreadEvenly) {
  auto const machine = machine_with_gpus(12, ", max_peers: 3");
  auto const pairs = all_pairs(machine);
  EXPECT_TRUE(exceed_peer_limit(machine, pairs));
  PeerMappings mappings(machine);
  mappings.add(pairs);
  for (auto const gpu : machine.all(PciKind::Gpu))
    EXPECT_EQ(std::count_if(pairs.begin(), pairs.end(),
                            [&](PeerPair const& pair) { return pair.first == gpu && mappings.has(pair); }),
              3);
}

TEST(PeerMappings, WhatIsMappedKeepsItsPlace) {
  auto const machine = machine_with_gpus(4, ", max_peers: 1");
  auto const gpus = machine.all(PciKind::Gpu);
  PeerMappings mappings(machine);
  mappings.add(std::vector<PeerPair>{{gpus[0], gpus[1]}, {gpus[1], gpus[0]}});
  mappings.add(std::vector<PeerPair>{{gpus[1], gpus[2]}, {gpus[2], gpus[3]}});
  EXPECT_TRUE(mappings.has({gpus[0], gpus[1]}));
  EXPECT_FALSE(mappings.has({gpus[1], gpus[2]}));
  EXPECT_TRUE(mappings.has({gpus[3], gpus[2]}));
  EXPECT_EQ(mappings.besides({gpus[0], gpus[1]}).source, 0);
  EXPECT_GT(mappings.besides({gpus[1], gpus[2]}).target, 1);
}

TEST(PeerMappings, HaveNoLimitWhereThePartSaysNone) {
  auto const machine = machine_with_gpus(12, "");
  auto const pairs = all_pairs(machine);
  EXPECT_FALSE(exceed_peer_limit(machine, pairs));
  PeerMappings mappings(machine);
  mappings.add(pairs);
  EXPECT_TRUE(std::all_of(pairs.begin(), pairs.end(), [&](PeerPair const& pair) { return mappings.has(pair); }));
}

TEST(PeerMappings, AsManyGpusAsMayBeMappedNeedNoChoice) {
  for (auto const& [gpus, may_exceed] : {std::pair{4, false}, {5, true}}) {
    auto const machine = machine_with_gpus(gpus, ", max_peers: 3");
    std::vector<Place> places;
    for (auto const gpu : machine.all(PciKind::Gpu)) places.emplace_back(gpu);
    EXPECT_EQ(may_exceed_peer_limit(machine, places), may_exceed);
    EXPECT_EQ(exceed_peer_limit(machine, all_pairs(machine)), may_exceed);
  }
}

}  // namespace
}  // namespace lanewise
