// Several fabrics in one cluster, and planes of a fabric.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/machine/fabric_ways.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr auto kCompute = "{fabric: compute, kind: rail_optimised, nics: [node0/nic0..node1/nic7]}";
constexpr auto kStorage =
    "{fabric: storage, kind: single_switch, nics: [node0/nic8..node1/nic9, node2/nic0..node2/nic1]}";

// Two DGX H100 and a storage server, with what `network` says.
Machine two_and_a_server(std::string const& network) {
  auto catalogue = test::bundled();
  return catalogue.machine_from(SourceText::from_memory(
      "pod.yaml",
      "lanewise: cluster/1\ncluster: pod\nnodes: [{machine: dgx-h100, count: 2}, {machine: nvme-server, count: 1}]\n" +
          network + "\n"));
}
Machine two_fabrics() { return two_and_a_server(std::string("fabrics: [") + kCompute + ", " + kStorage + "]"); }

std::string error_of(std::string const& network) {
  return test::input_error([&] { (void)two_and_a_server(network); });
}

std::set<std::string> switches_between(Machine const& machine, std::string const& from, std::string const& to) {
  std::set<std::string> names;
  Request const request{.from = machine.place(from), .to = machine.place(to)};
  for (auto const& way : possible_ways(machine, request)) {
    if (!way.nic_from || !way.nic_to) continue;
    for (auto const nic : {*way.nic_from, *way.nic_to})
      for (auto const& attachment : machine.fabric->attachments_of(nic))
        names.insert(machine.fabric->switches[attachment.at].name);
  }
  return names;
}

TEST(FabricList, EachFabricHasItsOwnSwitchesAndRails) {
  auto const machine = two_fabrics();
  ASSERT_EQ(machine.fabric->networks.size(), 2U);
  EXPECT_EQ(machine.fabric->networks[0].name, "compute");
  EXPECT_EQ(machine.fabric->networks[1].kind, "single_switch");
  std::vector<std::string> names;
  for (auto const& one : machine.fabric->switches) names.push_back(one.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"compute/leaf0.rail0", "compute/spine", "storage/leaf0"}));
  for (std::size_t i = 1; i < machine.fabric->switches.size(); ++i)
    EXPECT_LE(machine.fabric->switches[i - 1].tier, machine.fabric->switches[i].tier);
  EXPECT_EQ(machine.at(*machine.find_function("node1/nic9")).rail, 1);
  EXPECT_FALSE(are_joined(machine, *machine.find_function("node0/nic0"), *machine.find_function("node1/nic8")));
  EXPECT_TRUE(are_joined(machine, *machine.find_function("node0/nic8"), *machine.find_function("node2/nic1")));
}

TEST(FabricList, TransfersTakeTheFirstThatJoinsBothNodes) {
  auto machine = two_fabrics();
  EXPECT_THAT(switches_between(machine, "node0/gpu0", "node1/gpu0"), ElementsAre("compute/leaf0.rail0"));
  EXPECT_THAT(switches_between(machine, "node0/gpu0", "node2/numa0"), ElementsAre("storage/leaf0"));
  auto catalogue = test::bundled();
  apply_setting(machine, {"off@compute/*", "true"}, catalogue);
  EXPECT_THAT(switches_between(machine, "node0/gpu0", "node1/gpu0"), ElementsAre("storage/leaf0"));
}

TEST(FabricList, TheOrderOfFabricsCountsInTheFingerprint) {
  auto const other = two_and_a_server(std::string("fabrics: [") + kStorage + ", " + kCompute + "]");
  EXPECT_NE(fingerprint(other), fingerprint(two_fabrics()));
  EXPECT_THAT(switches_between(other, "node0/gpu0", "node1/gpu0"), ElementsAre("storage/leaf0"));
}

TEST(FabricList, RoutingIsSetByName) {
  auto machine = two_fabrics();
  auto catalogue = test::bundled();
  apply_setting(machine, {"routing@storage", "ecmp"}, catalogue);
  apply_setting(machine, {"flows_per_pair", "4"}, catalogue);
  EXPECT_EQ(machine.fabric->networks[0].routing, Routing::Adaptive);
  EXPECT_EQ(machine.fabric->networks[0].flows_per_pair, 1);
  EXPECT_EQ(machine.fabric->networks[1].routing, Routing::Ecmp);
  EXPECT_EQ(machine.fabric->networks[1].flows_per_pair, 4);
  EXPECT_THROW(apply_setting(machine, {"routing@storge", "ecmp"}, catalogue), InputError);
  EXPECT_THROW(apply_setting(machine, {"routing@storage", "valiant"}, catalogue), InputError);
}

TEST(FabricList, SaysWhatIsWrong) {
  std::string const compute = kCompute;
  std::string const storage = kStorage;
  EXPECT_THAT(error_of("fabrics: [" + compute + "]"), HasSubstr("nothing joins node2 with node0"));
  EXPECT_THAT(error_of("fabrics: [" + compute + ", {fabric: all, kind: single_switch}]"),
              HasSubstr("'node0/nic0' is on the fabrics 'compute' and 'all'"));
  EXPECT_THAT(error_of("fabrics: [{kind: single_switch}]"), HasSubstr("each of 'fabrics' has a name"));
  EXPECT_THAT(error_of("fabrics: [" + compute + ", " + compute + "]"), HasSubstr("the name 'compute' is taken"));
  EXPECT_THAT(error_of("fabrics: [{fabric: node1, kind: single_switch}]"), HasSubstr("the name 'node1' is taken"));
  EXPECT_THAT(error_of("fabric: {fabric: compute, kind: single_switch}"), HasSubstr("the only fabric needs no name"));
  EXPECT_THAT(error_of("fabric: {kind: single_switch}\nfabrics: [" + storage + "]"),
              HasSubstr("a cluster has 'fabric', the only one, or 'fabrics', a list of them"));
  EXPECT_THAT(error_of("fabrics: [{fabric: a, kind: single_switch, nics: [nic42]}, " + storage + "]"),
              HasSubstr("no machine here has a NIC called 'nic42'"));
  EXPECT_THAT(error_of("fabric: {kind: torus, dimensions: [3], planes: 2}"),
              HasSubstr("'planes' belongs to a fabric of the kind"));
  EXPECT_THAT(error_of("fabric: {kind: leaf_spine, planes: 17}"), HasSubstr("'planes' is 1 to 16"));
  EXPECT_THAT(error_of("fabric: {kind: leaf_spine, routing: valiant}"),
              HasSubstr("'routing: valiant' belongs to a fabric of the kind dragonfly"));
}

// What several networks would make of it, too.
TEST(FabricList, SaysWhichNicsCannotBeOnAFabric) {
  EXPECT_THAT(
      error_of("multi_host: [{nics: [node0/nic0, node1/nic0]}]\nfabric: {kind: leaf_spine, nics: [node1/nic0]}"),
      HasSubstr("'node1/nic0' shares the port of 'node0/nic0'"));
  EXPECT_THAT(error_of("fabric: {kind: leaf_spine, nics: []}"), HasSubstr("'nics' names none"));
  EXPECT_THAT(error_of("fabrics: []"), HasSubstr("'fabrics' is empty"));
  EXPECT_THAT(error_of("fabrics: [{fabric: a, kind: graph, switches: [{switch: s}]}]"),
              HasSubstr("no NIC is on a switch"));
}

Machine planes(std::string const& more = "") {
  auto catalogue = test::bundled();
  return catalogue.machine_from(
      SourceText::from_memory("pod.yaml",
                              "lanewise: cluster/1\ncluster: pod\nnodes: [{machine: hgx-h100, count: 4}]\n"
                              "fabric: {kind: leaf_spine, nodes_per_leaf: 2, planes: 2" +
                                  more + "}\n"));
}

TEST(Planes, EachNicHasAPortInEach) {
  auto const machine = planes();
  auto const cables = machine.fabric->attachments_of(*machine.find_function("node3/nic5"));
  ASSERT_EQ(cables.size(), 2U);
  EXPECT_EQ(machine.fabric->switches[cables[0].at].name, "leaf1.plane0");
  EXPECT_EQ(machine.fabric->switches[cables[1].at].name, "leaf1.plane1");
  EXPECT_EQ(cables[1].rate, BytesPerSecond(25e9));
  FabricWays const ways(*machine.fabric);
  EXPECT_NE(ways.island_of(cables[0].at), ways.island_of(cables[1].at));
  EXPECT_EQ(machine.fabric->uplink(cables[0].at), BytesPerSecond(2 * 8 * 25e9));  // non-blocking in each plane
}

TEST(Planes, ASlowCableIsDividedAmongThePorts) {
  auto machine = planes(", link_overrides: [{nic: node0/nic0, rate: 200 Gb/s}]");
  EXPECT_EQ(machine.fabric->attachments.front().rate, BytesPerSecond(12.5e9));
  auto catalogue = test::bundled();
  apply_setting(machine, {"rate@node0/nic1", "100 Gb/s"}, catalogue);
  EXPECT_EQ(machine.fabric->attachments_of(*machine.find_function("node0/nic1"))[1].rate, BytesPerSecond(6.25e9));
}

// A sixteenth of a flow in each of sixteen planes is less than weights can tell, so ports and cables are scaled.
TEST(Planes, ManyCarryAsMuchAsOne) {
  auto const rate = [](int count) {
    auto catalogue = test::bundled();
    Model const model(catalogue.machine_from(SourceText::from_memory(
        "pod.yaml", fmt::format("lanewise: cluster/1\ncluster: pod\nnodes: [{{machine: hgx-h100, count: 4}}]\n"
                                "fabric: {{kind: rail_optimised, nodes_per_leaf: 2, planes: {}}}\n",
                                count))));
    auto const& machine = model.machine();
    auto const from = machine.place("node0/gpu0");
    auto const to = machine.place("node2/gpu0");
    auto const way = possible_ways(machine, {.from = from, .to = to}).front();
    std::vector<Step> const steps{{"t", from, to, Bytes(1 << 30), Op::Copy, way, {}}};
    return estimate(model, steps).makespan.value();
  };
  for (auto const count : {2, 3, 16}) EXPECT_NEAR(rate(count), rate(1), 1e-4 * rate(1)) << count;
}

constexpr auto kDragonfly = "{kind: dragonfly, groups: 5, switches_per_group: 1, nodes_per_leaf: 1, routing: valiant}";

TEST(Valiant, TrafficBetweenTwoGroupsGoesEvenlyThroughAllOthers) {
  auto catalogue = test::bundled();
  auto const machine = catalogue.machine_from(SourceText::from_memory(
      "pod.yaml", std::string("lanewise: cluster/1\ncluster: pod\nnodes: [{machine: hgx-h100, count: 5}]\nfabric: ") +
                      kDragonfly + "\n"));
  FabricWays const ways(*machine.fabric);
  auto const way = ways.between(0, 1);
  ASSERT_TRUE(way);
  EXPECT_EQ(way->uses.size(), 6U);  // to each of three groups, and on
  for (auto const& use : way->uses) EXPECT_DOUBLE_EQ(use.share, 1.0 / 3);
  EXPECT_EQ(way->passed.size(), 3U);
  // Every group sends to the next: each cable carries the first half of one flow and the second of another, 2 / (5 -
  // 2), where the shortest ways put all of a flow on one cable.
  std::map<std::pair<std::uint32_t, bool>, double> load;
  for (std::uint32_t group = 0; group < 5; ++group) {
    auto const to_next = ways.between(group, (group + 1) % 5);
    for (auto const& use : to_next->uses) load[{use.trunk, use.up}] += use.share;
  }
  double most = 0;
  for (auto const& [use, share] : load) most = std::max(most, share);
  EXPECT_DOUBLE_EQ(most, 2.0 / 3);
}

}  // namespace
}  // namespace lanewise
