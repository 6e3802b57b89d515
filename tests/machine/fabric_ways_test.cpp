#include "core/machine/fabric_ways.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanewise/machine/catalogue.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Machine cluster_of(std::string const& fabric, int nodes, std::string const& machine = "hgx-h100") {
  auto catalogue = test::bundled();
  return catalogue.machine_from(
      SourceText::from_memory("pod.yaml", "lanewise: cluster/1\ncluster: pod\nnodes: [{machine: " + machine +
                                              ", count: " + std::to_string(nodes) + "}]\nfabric: " + fabric + "\n"));
}

std::string fabric_problem(std::string const& fabric, int nodes) {
  try {
    cluster_of(fabric, nodes);
  } catch (InputError const& error) {
    return error.what();
  }
  return "none";
}

std::uint32_t switch_named(Machine const& machine, std::string const& name) {
  for (std::uint32_t i = 0; i < machine.fabric->switches.size(); ++i)
    if (machine.fabric->switches[i].name == name) return i;
  ADD_FAILURE() << name;
  return 0;
}

std::vector<std::string> passed(Machine const& machine, std::string const& from, std::string const& to) {
  std::vector<std::string> names;
  auto const way = FabricWays(*machine.fabric).between(switch_named(machine, from), switch_named(machine, to));
  if (!way) return {"none"};
  for (auto const at : way->passed) names.push_back(machine.fabric->switches[at].name);
  return names;
}

constexpr auto kThreeTiers =
    "{kind: fat_tree, tiers: [{tier: leaf, joins: 2}, {tier: pod, joins: 2, oversubscription: 2}, {tier: core}]}";

TEST(FabricWays, AFatTreeIsClimbedNoFurtherThanNeeded) {
  auto const machine = cluster_of(kThreeTiers, 8);
  EXPECT_TRUE(FabricWays(*machine.fabric).is_tree());
  EXPECT_THAT(passed(machine, "leaf0", "leaf0"), ElementsAre("leaf0"));
  EXPECT_THAT(passed(machine, "leaf0", "leaf1"), ElementsAre("leaf0", "pod0", "leaf1"));
  EXPECT_THAT(passed(machine, "leaf0", "leaf3"), ElementsAre("leaf0", "pod0", "core", "pod1", "leaf3"));
}

TEST(FabricWays, OversubscriptionNarrowsTheTierThatSaysSo) {  // 16 NICs of 50 GB/s below a leaf, 32 below a pod
  auto const machine = cluster_of(kThreeTiers, 8);
  EXPECT_EQ(machine.fabric->uplink(switch_named(machine, "leaf0")), BytesPerSecond(16 * 50e9));
  EXPECT_EQ(machine.fabric->uplink(switch_named(machine, "pod0")), BytesPerSecond(16 * 50e9));
}

TEST(FabricWays, RailsThatNothingJoinsAreIslands) {
  auto const machine = cluster_of("{kind: rail_only, nodes_per_leaf: 2}", 4);
  EXPECT_THAT(passed(machine, "leaf0.rail0", "leaf1.rail0"), ElementsAre("leaf0.rail0", "spine.rail0", "leaf1.rail0"));
  EXPECT_THAT(passed(machine, "leaf0.rail0", "leaf0.rail1"), ElementsAre("none"));
  EXPECT_TRUE(are_joined(machine, *machine.find_function("node0/nic3"), *machine.find_function("node3/nic3")));
  EXPECT_FALSE(are_joined(machine, *machine.find_function("node0/nic3"), *machine.find_function("node3/nic2")));
}

TEST(FabricWays, ATorusIsCrossedDimensionByDimension) {
  auto const machine = cluster_of("{kind: torus, dimensions: [4, 2]}", 8);
  EXPECT_EQ(machine.fabric->trunks.size(), 8U + 4U);  // rings of four, and pairs
  EXPECT_THAT(passed(machine, "s0.0", "s2.1"), ElementsAre("s0.0", "s1.0", "s2.0", "s2.1"));
  EXPECT_THAT(passed(machine, "s0.0", "s3.0"), ElementsAre("s0.0", "s3.0"));
}

TEST(FabricWays, ADragonflyJoinsEveryTwoGroups) {
  auto const machine =
      cluster_of("{kind: dragonfly, groups: 3, switches_per_group: 2, global_cables: 2, nodes_per_leaf: 1}", 6);
  FabricWays const ways(*machine.fabric);
  for (std::uint32_t a = 0; a < 6; ++a)
    for (std::uint32_t b = 0; b < 6; ++b) {
      auto const way = ways.between(a, b);
      ASSERT_TRUE(way);
      EXPECT_LE(way->passed.size(), 4U);  // local, global, local
    }
  std::vector<int> global(3, 0);  // cables out of each group
  for (auto const& trunk : machine.fabric->trunks)
    if (trunk.lower / 2 != trunk.upper / 2)
      for (auto const end : {trunk.lower, trunk.upper}) global[end / 2] += trunk.cables;
  EXPECT_THAT(global, ElementsAre(4, 4, 4));
}

constexpr auto kGraph = R"({kind: graph,
  switches: [{switch: a, nics: [node0/nic0]}, {switch: b, nics: [node1/nic0]}, {switch: "s0..s1"}],
  links: [{between: [a, s0], rate: 100 Gb/s}, {between: [a, s1], count: 3, rate: 100 Gb/s},
          {between: [b, s0], rate: 100 Gb/s}, {between: [b, s1], count: 3, rate: 100 Gb/s}]ROUTING})";
std::string graph(std::string const& routing) {
  std::string text = kGraph;
  return text.replace(text.find("ROUTING"), 7, routing);
}

TEST(FabricWays, AnAdaptiveFabricSpreadsByWhatCablesCarry) {
  auto const machine = cluster_of(graph(""), 2);
  auto const way = FabricWays(*machine.fabric).between(0, 1);
  ASSERT_TRUE(way);
  double through_s1 = 0;
  for (auto const& use : way->uses)
    if (machine.fabric->trunks[use.trunk].cables == 3) through_s1 += use.share;
  EXPECT_DOUBLE_EQ(through_s1, 2 * 0.75);  // up and down
  EXPECT_EQ(machine.fabric->switches[2].tier, 1);
}

TEST(FabricWays, OtherRoutingsTakeOneWay) {
  auto const machine = cluster_of(graph(", routing: static"), 2);
  FabricWays const ways(*machine.fabric);
  std::set<std::uint32_t> middles;
  for (std::uint64_t choice = 0; choice < 8; ++choice) {
    auto const way = ways.between(0, 1, choice);
    ASSERT_EQ(way->passed.size(), 3U);
    EXPECT_EQ(way->uses.size(), 2U);
    middles.insert(way->passed[1]);
  }
  EXPECT_EQ(middles.size(), 2U);
}

TEST(FabricReader, SaysWhatIsWrong) {
  EXPECT_THAT(fabric_problem("{kind: torus, dimensions: [4, 4]}", 8), HasSubstr("16 switches with 1 nodes each"));
  EXPECT_THAT(fabric_problem("{kind: torus}", 8), HasSubstr("a torus has 'dimensions'"));
  EXPECT_THAT(fabric_problem("{kind: single_switch, uplinks: 4}", 2),
              HasSubstr("'uplinks' belongs to a fabric of the kind"));
  EXPECT_THAT(fabric_problem("{kind: fat_tree}", 2), HasSubstr("a fat_tree has 'tiers'"));
  EXPECT_THAT(fabric_problem("{kind: fat_tree, tiers: [{tier: leaf, joins: 1}, {tier: top, joins: 2}]}", 4),
              HasSubstr("the highest tier joins 2 of 4 groups"));
  EXPECT_THAT(fabric_problem("{kind: fat_tree, tiers: [{tier: leaf, joins: 1}, {tier: top, uplinks: 2}]}", 4),
              HasSubstr("nothing is above 'top', so it has no uplinks"));
  EXPECT_THAT(fabric_problem("{kind: leaf_spine, nodes_per_leaf: 1, uplinks: 2, oversubscription: 2}", 2),
              HasSubstr("give 'uplinks' or 'oversubscription', not both"));
  EXPECT_THAT(fabric_problem("{kind: leaf_spine, routing: static, flows_per_pair: 2}", 2),
              HasSubstr("'flows_per_pair' belongs to 'routing: ecmp'"));
  EXPECT_THAT(
      fabric_problem("{kind: graph, switches: [{switch: a, nics: [node0/nic0]}, {switch: b, nics: [node1/nic0]}]}", 2),
      HasSubstr("nothing joins node1 with node0"));
  EXPECT_THAT(fabric_problem("{kind: graph, switches: [{switch: a, nics: [node0/nic0, node1/nic0]}], "
                             "links: [{between: [a]}]}",
                             2),
              HasSubstr("a cable has two ends"));
  EXPECT_THAT(fabric_problem("{kind: graph, switches: [{switch: a, nics: [node0/nic0, node1/nic0]}], "
                             "links: [{between: [a, bb]}]}",
                             2),
              HasSubstr("no switch is called 'bb'"));
}

// ConnectX-7 has 400 Gb/s, the ports of Quantum HDR have 200.
TEST(FabricReader, ACableIsNoFasterThanThePortsOfItsSwitch) {
  for (auto const* fabric : {"{kind: single_switch, switch: quantum-hdr}", "{kind: leaf_spine, switch: quantum-hdr}"}) {
    auto const machine = cluster_of(fabric, 2);
    for (auto const& attachment : machine.fabric->attachments)
      EXPECT_DOUBLE_EQ(attachment.rate.value().value(), 25e9) << fabric;
    for (auto const& trunk : machine.fabric->trunks) EXPECT_LE(trunk.rate / trunk.cables, BytesPerSecond(25e9));
  }
  EXPECT_FALSE(cluster_of("{kind: single_switch, switch: quantum-2-ndr}", 2).fabric->attachments[0].rate.has_value());
}

TEST(FabricReader, PortsOfEveryTierAreABudget) {
  // 64 nodes of eight NICs below eight leaves: 64 ports down, 64 up.
  EXPECT_THAT(fabric_problem("{kind: rail_optimised, switch: quantum-2-ndr}", 64),
              HasSubstr("has 64 ports (quantum-2-ndr), and 64 NICs and the cables to other switches take 128"));
  EXPECT_THAT(fabric_problem("{kind: fat_tree, by_rail: true, switch: quantum-2-ndr, tiers: [{tier: leaf, joins: 32}, "
                             "{tier: core, switches: 4}]}",
                             64),
              HasSubstr("core's 4 switches have 256 ports (quantum-2-ndr), and the cables to other switches take 512"));
}

}  // namespace
}  // namespace lanewise
