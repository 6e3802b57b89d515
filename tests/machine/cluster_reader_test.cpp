#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanewise/machine/machine_file.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"
#include "tests/support/server.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using test::cluster_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace literals;

// A folder with the test server as machine `server`, and a network switch part `ib-switch`.
class ClusterReader : public testing::Test {
 protected:
  ClusterReader() : catalogue_({folder_.path()}) {
    (void)folder_.with("machines/server.yaml", test::text_of({}));
    (void)folder_.with("parts/ib-switch.yaml", "lanewise: part/1\npart: ib-switch\nkind: network_switch\n");
    (void)folder_.with("parts/plain.yaml", "lanewise: part/1\npart: plain\nkind: nic\n");
  }
  void expect_errors(std::string const& body, std::vector<std::string> const& messages) {
    test::expect_errors("lanewise: cluster/1\ncluster: c\n" + body, messages,
                        [&](SourceText const& source) { read_cluster(source, catalogue_); });
  }

  test::TemporaryFolder folder_;
  Catalogue catalogue_;
};

std::vector<std::string> leaves_of(Machine const& cluster) {
  std::vector<std::string> leaves;
  for (auto const& attachment : cluster.fabric->attachments)
    leaves.push_back(cluster.at(attachment.nic).name + " " + cluster.fabric->switches[attachment.at].name);
  return leaves;
}

TEST_F(ClusterReader, NodesAreLaidOutWithTheirNames) {
  auto const cluster =
      cluster_of({.at_sw0 = "chip: c0", .nvlinks = "{between: [gpu0, gpu1], part: nvlink, count: 4}"}, "kind: direct");
  EXPECT_EQ(cluster.name, "pod");
  ASSERT_EQ(cluster.hosts.size(), 2U);
  EXPECT_EQ(cluster.hosts[1].name, "node1");
  EXPECT_EQ(cluster.hosts[1].machine, "server");
  EXPECT_EQ(cluster.functions.size(), 26U);
  auto const gpu = *cluster.find_function("node1/gpu1");
  EXPECT_EQ(cluster.at(*cluster.at(gpu).parent).name, "node1/sw0");
  EXPECT_EQ(cluster.at(*cluster.at(gpu).parent).chip, "node1/c0");
  EXPECT_EQ(cluster.at(cluster.host_of(gpu)).name, "node1");
  EXPECT_EQ(cluster.at(cluster.numa_of(gpu)).name, "node1/numa0");
  ASSERT_EQ(cluster.nvlinks.size(), 2U);
  EXPECT_EQ(cluster.nvlinks[1].a, NvlinkEnd(*cluster.find_function("node1/gpu0")));
  EXPECT_EQ(cluster.socket_links[1].a, cluster.socket_of(gpu));
}

TEST_F(ClusterReader, EqualPartsAreKeptOnce) {
  EXPECT_EQ(cluster_of({}, "kind: single_switch", 8).parts.size(), test::machine_of({}).parts.size());
}

TEST_F(ClusterReader, OneSwitchHoldsEveryNic) {
  auto const cluster = cluster_of({}, "kind: single_switch, switch: ib-switch");
  EXPECT_THAT(leaves_of(cluster),
              ElementsAre("node0/nic0 leaf0", "node0/nic1 leaf0", "node1/nic0 leaf0", "node1/nic1 leaf0"));
  EXPECT_EQ(cluster.at(*cluster.fabric->switches.front().part).name, "ib-switch");
  EXPECT_FALSE(cluster.fabric->uplink(0));
}

TEST_F(ClusterReader, ALeafHoldsItsNodes) {
  auto const cluster = cluster_of({}, "kind: leaf_spine, nodes_per_leaf: 2", 4);
  EXPECT_THAT(leaves_of(cluster),
              ElementsAre("node0/nic0 leaf0", "node0/nic1 leaf0", "node1/nic0 leaf0", "node1/nic1 leaf0",
                          "node2/nic0 leaf1", "node2/nic1 leaf1", "node3/nic0 leaf1", "node3/nic1 leaf1"));
}

TEST_F(ClusterReader, ARailHasALeafOfItsOwn) {
  auto const cluster = cluster_of({}, "kind: rail_optimised");
  EXPECT_THAT(leaves_of(cluster), ElementsAre("node0/nic0 leaf0.rail0", "node0/nic1 leaf0.rail1",
                                              "node1/nic0 leaf0.rail0", "node1/nic1 leaf0.rail1"));
  EXPECT_EQ(cluster.at(*cluster.find_function("node1/nic1")).rail, 1);
}

TEST_F(ClusterReader, ANicMayNameItsRail) {
  auto const cluster = cluster_of({.at_nic0 = "rail: 7"}, "kind: rail_optimised");
  EXPECT_THAT(leaves_of(cluster), ElementsAre("node0/nic0 leaf0.rail7", "node0/nic1 leaf0.rail1",
                                              "node1/nic0 leaf0.rail7", "node1/nic1 leaf0.rail1"));
}

TEST_F(ClusterReader, UplinksAreNonBlockingUnlessCounted) {  // four NICs of 25 GB/s on each leaf
  EXPECT_EQ(cluster_of({}, "kind: leaf_spine, nodes_per_leaf: 2", 4).fabric->uplink(1), 100.0_GBps);
  EXPECT_EQ(cluster_of({}, "kind: leaf_spine, nodes_per_leaf: 2, uplinks: 2", 4).fabric->uplink(1), 50.0_GBps);
  EXPECT_EQ(
      cluster_of({}, "kind: leaf_spine, nodes_per_leaf: 2, uplinks: 2, uplink_rate: 400 Gb/s", 4).fabric->uplink(1),
      100.0_GBps);
}

TEST_F(ClusterReader, ACableMayRunSlower) {
  auto const cluster = cluster_of({}, "kind: single_switch, link_overrides: [{nic: node1/nic0, rate: 100 Gb/s}]");
  EXPECT_EQ(cluster.fabric->attachments[2].rate, 12.5_GBps);
  EXPECT_FALSE(cluster.fabric->attachments[3].rate);
}

TEST_F(ClusterReader, TheFileMayChooseTheNics) {
  EXPECT_THAT(leaves_of(cluster_of({}, "kind: single_switch, nics: [nic1]")),
              ElementsAre("node0/nic1 leaf0", "node1/nic1 leaf0"));
}

TEST_F(ClusterReader, NicsWithoutVerbsAreLeftOutUnlessThereAreNoOthers) {
  auto const alone = cluster_of({.more_nic = "verbs: false"}, "kind: single_switch");
  EXPECT_EQ(alone.fabric->attachments.size(), alone.all(PciKind::Nic).size()) << "then messages go through sockets";
  auto const vm = lanewise::test::bundled().machine("h100x1-cloud-2");
  ASSERT_EQ(vm.fabric->attachments.size(), 2);
  EXPECT_FALSE(vm.part_of(vm.fabric->attachments[0].nic)->nic.rdma);
}

TEST_F(ClusterReader, SettingsOfTheClusterWinOverTheMachines) {
  auto const source = SourceText::from_memory("c.yaml",
                                              "lanewise: cluster/1\ncluster: c\nsettings: {acs: on}\nnodes: [{machine: "
                                              "server, count: 2}]\nfabric: {kind: direct}\n");
  auto const cluster = read_cluster(source, catalogue_);
  for (auto const& host : cluster.hosts) {
    EXPECT_EQ(host.settings.acs, AcsControl::on());
    EXPECT_EQ(host.settings.iommu, IommuMode::Passthrough);
  }
}

TEST_F(ClusterReader, ACliqueIsOfGpusOfTheNode) {
  expect_errors(
      "§settings: {virtualization: {clique: [gpu0, gpu9]}}\nnodes: [{machine: server, count: 2}]\nfabric: {kind: "
      "direct}\n",
      {"the clique names 'gpu9', which is not a GPU of node0"});
}

// A machine beside the cluster file is found wherever the program runs.
TEST_F(ClusterReader, AMachineMayStandBesideTheFile) {
  (void)folder_.with("mine/box.yaml", test::text_of({}));
  auto const file =
      folder_.with("mine/pod.yaml",
                   "lanewise: cluster/1\ncluster: c\nnodes: [{machine: box.yaml, count: 2}]\nfabric: {kind: direct}\n");
  EXPECT_EQ(catalogue_.machine(file.string()).hosts.size(), 2U);
}

TEST_F(ClusterReader, NodesAreMachines) {
  (void)folder_.with(
      "clusters/pair.yaml",
      "lanewise: cluster/1\ncluster: pair\nnodes: [{machine: server, count: 2}]\nfabric: {kind: direct}\n");
  expect_errors("nodes: [{machine: §pair, count: 2}]\nfabric: {kind: direct}\n",
                {"'pair' is a cluster; nodes are machines"});
}

TEST_F(ClusterReader, AClusterIsNotMadeOfItself) {
  auto const file = folder_.with(
      "loop.yaml",
      "lanewise: cluster/1\ncluster: c\nnodes: [{machine: loop.yaml, count: 2}]\nfabric: {kind: direct}\n");
  EXPECT_THAT(test::input_error([&] { catalogue_.machine(file.string()); }),
              HasSubstr("loop.yaml:3:19: error: 'loop.yaml' is a cluster"));
  (void)folder_.with("clusters/own.yaml",
                     "lanewise: cluster/1\ncluster: own\nnodes: [{machine: own, count: 2}]\nfabric: {kind: direct}\n");
  EXPECT_THAT(test::input_error([&] { catalogue_.machine("own"); }),
              HasSubstr("own.yaml:3:19: error: 'own' is a cluster"));
}

TEST_F(ClusterReader, NodesMustBeKnownAndCounted) {
  expect_errors("nodes: [{machine: §sever, count: 2}]\nfabric: {kind: direct}\n",
                {"no machine is called 'sever'; did you mean 'server'?"});
  expect_errors("nodes: [{machine: server, count: §0}]\nfabric: {kind: direct}\n", {"a cluster has 1 to 16384 nodes"});
  expect_errors("nodes: [{machine: server, count: §16385}]\nfabric: {kind: direct}\n",
                {"a cluster has 1 to 16384 nodes"});
  expect_errors("nodes: [§{machine: server}]\nfabric: {kind: direct}\n", {"the key 'count' is missing"});
  expect_errors("§nodes: []\nfabric: {kind: direct}\n", {"a cluster has at least one node"});
}

TEST_F(ClusterReader, TheFabricIsChecked) {
  auto const with = [](std::string const& fabric, int nodes = 2) {
    return fmt::format("nodes: [{{machine: server, count: {}}}]\nfabric: {{{}}}\n", nodes, fabric);
  };
  expect_errors(with("kind: §mesh"),
                {"'mesh' is not known; allowed: direct, single_switch, leaf_spine, rail_optimised"});
  expect_errors(with("kind: §direct", 3), {"'direct' joins two nodes; here are 3"});
  expect_errors(with("kind: single_switch, switch: §ib-swich"),
                {"no part is called 'ib-swich'; did you mean 'ib-switch'?"});
  expect_errors(with("kind: single_switch, switch: §plain"),
                {"the part 'plain' is a nic, but a network_switch is needed here"});
  expect_errors(with("kind: leaf_spine, nodes_per_leaf: §0"), {"'nodes_per_leaf' must be at least 1"});
  expect_errors(with("kind: leaf_spine, uplinks: §0"), {"'uplinks' must be at least 1"});
  expect_errors(with("kind: single_switch, link_overrides: [{nic: §nic0, rate: 1 GB/s}]"),
                {"no NIC on the fabric is called 'nic0'; write it as node0/nic0"});
  expect_errors(with("kind: single_switch, link_overrides: [§{nic: node0/nic0}]"), {"the key 'rate' is missing"});
  expect_errors(with("kind: single_switch, nics: §[nic0, nic7]"), {"no machine here has a NIC called 'nic7'"});
}

TEST_F(ClusterReader, WrongSettingsAreReportedOnce) {
  expect_errors("settings: {iommu: §maybe}\nnodes: [{machine: server, count: 8}]\nfabric: {kind: single_switch}\n",
                {"not an IOMMU mode"});
}

TEST(BundledClusters, AllLoad) {
  auto catalogue = test::bundled();
  ASSERT_FALSE(catalogue.cluster_names().empty());
  for (auto const& name : catalogue.cluster_names()) {
    SCOPED_TRACE(name);
    auto const cluster = catalogue.machine(name);
    EXPECT_EQ(cluster.name, name);
    EXPECT_GT(cluster.hosts.size(), 1U);
    EXPECT_FALSE(cluster.fabric->attachments.empty());
  }
}

TEST(BundledClusters, TheLargeOneHasARailForEachNicOfANode) {
  auto catalogue = test::bundled();
  auto const cluster = catalogue.machine("hgx-h100-32");
  EXPECT_EQ(cluster.all(PciKind::Gpu).size(), 256U);
  EXPECT_EQ(cluster.fabric->switches.size(), 9U);
  EXPECT_EQ(cluster.fabric->attachments.size(), 256U);
}

}  // namespace
}  // namespace lanewise
