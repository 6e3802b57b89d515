// What NCCL decides, against what NCCL itself printed (NCCL_DEBUG=INFO, subsystems GRAPH and TUNING), and against sums
// over its rules done by hand.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/planner/collectives/algorithms/double_tree.hpp"
#include "core/planner/libraries/nccl/graph_search.hpp"
#include "core/planner/libraries/nccl/tree_search.hpp"
#include "core/planner/libraries/nccl/tuning.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/planner/libraries/library.hpp"
#include "tests/planner/libraries/printed_cells.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise::nccl {
namespace {

using namespace literals;
using testing::HasSubstr;

Catalogue& bundled() {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  return catalogue;
}

Machine machine_with(std::string const& name, std::vector<std::string> const& settings = {}) {
  auto machine = bundled().machine(name);
  for (auto const& text : settings) apply_setting(machine, parse_setting(text), bundled());
  return machine;
}

// The first `count` GPUs of the first node.
std::vector<PciId> gpus_of(Machine const& machine, std::size_t count) {
  std::vector<PciId> gpus;
  for (auto const gpu : machine.all(PciKind::Gpu))
    if (gpus.size() < count && (gpus.empty() || machine.host_of(gpu) == machine.host_of(gpus.front())))
      gpus.push_back(gpu);
  return gpus;
}

struct Expected {
  std::string name;  // of the case
  std::string machine;
  std::size_t gpus = 8;  // of a node
  bool several = false;  // nodes
  int minor = 30;
  std::vector<std::string> settings = {};
  std::size_t channels = 0;
  double rate = 0;
  std::string intra;
};

class SearchOf : public testing::TestWithParam<Expected> {};

TEST_P(SearchOf, FindsTheChannelsOfNccl) {
  auto const& expected = GetParam();
  auto const machine = machine_with(expected.machine, expected.settings);
  Library const library{LibraryKind::Nccl, 2, expected.minor};
  Topology const topology(machine, gpus_of(machine, expected.gpus), library, machine.library_environment);
  auto const graph = search_rings(topology, expected.several, library, machine.library_environment);
  EXPECT_EQ(graph.channels.size(), expected.channels);
  EXPECT_NEAR(graph.rate, expected.rate, 1e-9);
  EXPECT_EQ(to_string(graph.intra), expected.intra);
  for (auto const& channel : graph.channels) EXPECT_EQ(channel.gpus.size(), expected.gpus);
}

std::string const kNoPeers = "library.env.NCCL_P2P_DISABLE=1";

INSTANTIATE_TEST_SUITE_P(All, SearchOf,
                         testing::Values(
                             // Own logs, 2 x H100 of a virtual machine, NCCL 2.28.3, 2026-11-26: "Pattern 4, nChannels
                             // 12, bw 30, type NVL/PIX", and without peer access "nChannels 2, bw 20, type PHB/PIX".
                             Expected{"h100x2_vm", "h100x2-vm", 2, false, 28, {}, 12, 30, "NVL"},
                             Expected{"h100x2_vm_without_peers", "h100x2-vm", 2, false, 28, {kNoPeers}, 2, 20, "PHB"},
                             // By hand from the rules of NCCL 2.30: 6 x 60 doubled; 6 x 40; 4 x 40; 8 x 90.
                             Expected{"h100_nvswitch", "hgx-h100", 8, false, 30, {}, 12, 30, "NVL"},
                             Expected{"a100_nvswitch", "dgx-a100", 8, false, 30, {}, 12, 20, "NVL"},
                             Expected{"h800_nvswitch", "hgx-h800", 8, false, 30, {}, 8, 20, "NVL"},
                             Expected{"b200_nvswitch", "hgx-b200", 8, false, 30, {}, 16, 45, "NVL"},
                             // Eight NICs of 400 Gb/s, one to a GPU: back to its NIC a ring passes a GPU twice, and 8 x
                             // 48 is more than 370.8. Out by the last GPU's own NIC it passes each once.
                             Expected{"h100_two_nodes", "dgx-h100-2-storage", 8, true, 30, {}, 8, 48, "NVL"},
                             Expected{"h100_two_nodes_on_their_rails",
                                      "dgx-h100-2-storage",
                                      8,
                                      true,
                                      30,
                                      {"library.env.NCCL_CROSS_NIC=0"},
                                      8,
                                      45,
                                      "NVL"},
                             // Before 2.20 a change had to be worth 15 %; 7 x 48 without one, 8 x 48 with.
                             Expected{"h100_two_nodes_218", "dgx-h100-2-storage", 8, true, 18, {}, 8, 45, "NVL"},
                             // Two GPUs and two NICs of a switch: a ring comes back to its NIC past the other GPU.
                             Expected{"h100_two_nodes_by_switches", "hgx-h100-2", 8, true, 30, {}, 8, 48, "NVL"},
                             // AMD's sockets count 16: no speed of SM100 and later is that low.
                             Expected{
                                 "pro6000_two_amd_sockets", "rtx6000pro-x8-genoa", 8, false, 30, {}, 1, 0.1, "SYS"},
                             Expected{"l40s_two_amd_sockets", "l40s-x8", 8, false, 30, {}, 1, 15, "SYS"}),
                         [](auto const& chosen) { return chosen.param.name; });

// search.cc, second pass: between two nodes trees get more within a node, step by step, while that is below twice what
// they carry to the NIC. AWS's p4d: two GPUs share 100 Gb/s, NVLink has room.
TEST(Search, TreesBetweenTwoNodesCarryMoreWithinANode) {
  auto const machine = machine_with("hgx-h100-2", {});
  Library const library{LibraryKind::Nccl, 2, 23};
  Topology const topology(machine, gpus_of(machine, 8), library, machine.library_environment);
  auto const p4d = bundled().machine_from(
      SourceText::from_memory("two.yaml",
                              "lanewise: cluster/1\ncluster: two\nnodes: [{machine: p4d, count: 2}]\n"
                              "fabric: {kind: single_switch}\n"));
  Topology const slow(p4d, gpus_of(p4d, 8), library, p4d.library_environment);
  auto const rings = search_rings(slow, true, library);
  EXPECT_EQ(rings.rate, 12);
  EXPECT_EQ(tree_rate(rings, slow, 2, library), 24);
  EXPECT_EQ(tree_rate(rings, slow, 3, library), 12);
  // NVLink has no room for eight channels of the next speed.
  auto const fast = search_rings(topology, true, library);
  EXPECT_EQ(tree_rate(fast, topology, 2, library), fast.rate);
}

// A GPU with a NIC of its own reaches no other NIC but through a GPU: its trees are plain, which 2.26 and later count
// as .85. Below a switch of two GPUs and two NICs they are balanced.
TEST(Search, TreesArePlainWhereNoSecondGpuIsNearTheNic) {
  Library const library{LibraryKind::Nccl, 2, 26};
  std::map<std::string, double> rates;
  for (auto const* name : {"dgx-h100-2-storage", "hgx-h100-2"}) {
    auto const machine = machine_with(name);
    Topology const topology(machine, gpus_of(machine, 8), library, {});
    Communicator communicator{32, 4, 8, search_rings(topology, true, library), {}, 0, false, {}};
    communicator.tree_rate = communicator.ring.rate;
    communicator.plain_trees = trees_are_plain(communicator.ring, topology);
    EXPECT_EQ(communicator.plain_trees, std::string(name) != "hgx-h100-2");
    for (auto const& cell : cells(CollectiveOp::AllReduce, communicator, topology, library, {}))
      if (cell.algorithm == AlgorithmKind::Tree && cell.protocol == Protocol::LL128) rates[name] = cell.rate;
  }
  // Four nodes: 29 a channel at most.
  EXPECT_NEAR(rates.at("hgx-h100-2"), 8 * 29 / 2.0, 1e-9);
  EXPECT_NEAR(rates.at("dgx-h100-2-storage"), .85 * 8 * 29 / 2.0, 1e-9);
}

// Before 2.28 NCCL counts of NVLSTree 5/6 of the slower of NVLink and NIC, of which trees of more than two nodes get
// half; since then what NVLink carries twice, up to a cap.
TEST(Tuning, OfNvlsTreeDependsOnTheVersion) {
  auto const rate = [](std::string const& node, std::size_t nodes, int minor) {
    auto const machine = bundled().machine_from(SourceText::from_memory(
        "some.yaml", fmt::format("lanewise: cluster/1\ncluster: some\nnodes: [{{machine: {}, count: {}}}]\n"
                                 "fabric: {{kind: single_switch}}\n",
                                 node, nodes)));
    Library const library{LibraryKind::Nccl, 2, minor};
    Topology const topology(machine, gpus_of(machine, 8), library, {});
    Communicator const communicator{
        8 * nodes, nodes, 8, search_rings(topology, true, library), search_nvls(topology, true, library), 0, false, {}};
    for (auto const& cell : cells(CollectiveOp::AllReduce, communicator, topology, library, {}))
      if (cell.algorithm == AlgorithmKind::NvlsTree) return cell.rate;
    return 0.0;
  };
  EXPECT_NEAR(rate("hgx-b200", 2, 27), 8 * 48 * 5.0 / 6, 1e-9);
  EXPECT_NEAR(rate("hgx-h100", 2, 26), 8 * 40 * 5.0 / 6, 1e-9);    // NVLink: 9 x 40 of 370.8
  EXPECT_NEAR(rate("hgx-h100", 4, 26), 8 * 24 * 5.0 / 6, 1e-9);    // half of the NIC's 48
  EXPECT_NEAR(rate("hgx-h100", 4, 30), 8 * 45.5 * 32 / 62, 1e-9);  // the cap
  EXPECT_NEAR(rate("hgx-b200", 2, 30), 8 * (48 * .74 * 7 / 8 * 2) * 16 / 30, 1e-9);
}

// aws-ofi-nccl tells NCCL of 75 us a message on p5. A tree's LL128: 14 + 2 (7 x 1.25 + 8.5 + 75); a ring's Simple, with
// 6 us of overhead on AMD's CPUs and a flush: 8.4 + 28 x 6 + 2 (14 + 2 x 75), of which data wait for one message, not
// two.
TEST(Tuning, CountsWhatTheNicsPluginTells) {
  auto const machine = machine_with("aws-p5-2");
  auto const environment = environment_of(machine);
  EXPECT_EQ(environment.at("NCCL_P2P_NET_CHUNKSIZE"), "524288");
  EXPECT_TRUE(environment_of(machine_with("hgx-h100-2")).empty());
  EXPECT_EQ(
      environment_of(machine_with("aws-p5-2", {"library.env.NCCL_NVLS_CHUNKSIZE=65536"})).at("NCCL_NVLS_CHUNKSIZE"),
      "65536");
  EXPECT_FALSE(environment.contains("NCCL_PROTO"));
  EXPECT_EQ(environment_of(machine_with("p4d")).at("NCCL_PROTO"), "Simple");
  EXPECT_EQ(environment_of(machine_with("p4d", {"library.env.NCCL_PROTO=LL"})).at("NCCL_PROTO"), "LL");
  Library const library{LibraryKind::Nccl, 2, 30};
  Topology const topology(machine, gpus_of(machine, 8), library, environment);
  EXPECT_EQ(topology.plugin_latency_us(), 75);
  Communicator communicator{16, 2, 8, search_rings(topology, true, library), {}, 0, false, {}};
  communicator.tree_rate = communicator.ring.rate;
  std::map<std::pair<AlgorithmKind, Protocol>, Cell> cells_of;
  for (auto const& cell : cells(CollectiveOp::AllReduce, communicator, topology, library, environment))
    cells_of[{cell.algorithm, cell.protocol}] = cell;
  EXPECT_NEAR(cells_of.at({AlgorithmKind::Tree, Protocol::LL128}).latency_us, 198.5, 1e-9);
  EXPECT_NEAR(cells_of.at({AlgorithmKind::Ring, Protocol::Simple}).latency_us, 504.4, 1e-9);
  EXPECT_NEAR(cells_of.at({AlgorithmKind::Ring, Protocol::Simple}).chained_latency_us, 354.4, 1e-9);
}

// Own log, 2 x H100, NCCL 2.28.3, NVLS off: "AllReduce | 8.0/61.1 | 16.5/180.6 | 16.4/232.2 | 7.8/141.0 | ...".
TEST(Tuning, IsTheTableThatNcclPrints) {
  auto const machine = machine_with("h100x2-vm", {"library.env.NCCL_NVLS_ENABLE=0"});
  Library const library{LibraryKind::Nccl, 2, 28};
  Topology const topology(machine, gpus_of(machine, 2), library, machine.library_environment);
  auto const communicator = of_one_node(topology, library);  // "Pattern 1, nChannels 12, bw 60"
  expect_cells(communicator, topology, library,
               {{CollectiveOp::AllReduce, AlgorithmKind::Tree, Protocol::LL, 8.0, 61.1},
                {CollectiveOp::AllReduce, AlgorithmKind::Tree, Protocol::LL128, 16.5, 180.6},
                {CollectiveOp::AllReduce, AlgorithmKind::Tree, Protocol::Simple, 16.4, 232.2},
                {CollectiveOp::AllReduce, AlgorithmKind::Ring, Protocol::LL, 7.8, 141.0},
                {CollectiveOp::AllReduce, AlgorithmKind::Ring, Protocol::LL128, 17.8, 331.2},
                {CollectiveOp::AllReduce, AlgorithmKind::Ring, Protocol::Simple, 15.2, 360.0},
                {CollectiveOp::AllGather, AlgorithmKind::Ring, Protocol::LL, 7.2, 282.0},
                {CollectiveOp::AllGather, AlgorithmKind::Ring, Protocol::LL128, 15.9, 662.4},
                {CollectiveOp::ReduceScatter, AlgorithmKind::Ring, Protocol::Simple, 11.8, 720.0},
                {CollectiveOp::Broadcast, AlgorithmKind::Ring, Protocol::LL, 7.2, 141.0},
                {CollectiveOp::Broadcast, AlgorithmKind::Ring, Protocol::Simple, 11.8, 360.0}});
  EXPECT_EQ(opened_channels(communicator, topology, library, {}), 24);  // "24 coll channels"
}

// "AllReduce: 65536 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..7}", of the same run.
TEST(Tuning, SmallCallsUseFewChannels) {
  auto const machine = machine_with("h100x2-vm");
  Library const library{LibraryKind::Nccl, 2, 28};
  Topology const topology(machine, gpus_of(machine, 2), library, {});
  Communicator const communicator{2, 1, 2, search_rings(topology, false, library), {}, 0, false, {}};
  Cell const ring_ll{AlgorithmKind::Ring, Protocol::LL, 7.8, 141};
  auto const used = [&](double bytes) {
    return used_channels(ring_ll, bytes, 24, communicator, CollectiveOp::AllReduce, library, {});
  };
  EXPECT_EQ(used(8192), 1);
  EXPECT_EQ(used(16384), 2);
  EXPECT_EQ(used(65536), 8);
  EXPECT_EQ(used(131072), 16);
  EXPECT_EQ(used(524288), 24);
}

struct Chosen {
  std::string name, machine, among;
  Bytes bytes;
  CollectiveOp op;
  std::string algorithm, protocol;
};
class ChoiceOf : public testing::TestWithParam<Chosen> {};

TEST_P(ChoiceOf, IsNccls) {
  auto const& [name, machine, among, bytes, op, algorithm, protocol] = GetParam();
  Model const model(machine_with(machine));
  Collective collective{op, {}, bytes};
  for (auto const& one : expand_range(among)) collective.among.push_back(model.machine().place(one));
  auto const plan = plan_by_library(model, collective, Library{});
  EXPECT_EQ(plan.library.value().algorithm, algorithm);
  EXPECT_EQ(plan.library.value().protocol, protocol);
}

// Where the choice changes by NCCL 2.30's formulas, summed by hand: 8 x H100 NVLS from 2 MiB, 8 x A100 LL128 from 4 MiB
// and Simple from 32 MiB, 8 x B200 all_gather LL128 from 16 MiB.
INSTANTIATE_TEST_SUITE_P(
    All, ChoiceOf,
    testing::Values(
        Chosen{"h100_1MiB", "hgx-h100", "gpu0..gpu7", 1_MiB, CollectiveOp::AllReduce, "Ring", "LL"},
        Chosen{"h100_2MiB", "hgx-h100", "gpu0..gpu7", 2_MiB, CollectiveOp::AllReduce, "NVLS", "Simple"},
        Chosen{"h100_gather_64MiB", "hgx-h100", "gpu0..gpu7", 64_MiB, CollectiveOp::AllGather, "Ring", "Simple"},
        Chosen{"a100_2MiB", "dgx-a100", "gpu0..gpu7", 2_MiB, CollectiveOp::AllReduce, "Ring", "LL"},
        Chosen{"a100_4MiB", "dgx-a100", "gpu0..gpu7", 4_MiB, CollectiveOp::AllReduce, "Ring", "LL128"},
        Chosen{"a100_32MiB", "dgx-a100", "gpu0..gpu7", 32_MiB, CollectiveOp::AllReduce, "Ring", "Simple"},
        Chosen{"b200_4MiB", "hgx-b200", "gpu0..gpu7", 4_MiB, CollectiveOp::AllReduce, "NVLS", "Simple"},
        Chosen{"b200_gather_16MiB", "hgx-b200", "gpu0..gpu7", 16_MiB, CollectiveOp::AllGather, "Ring", "LL128"},
        Chosen{"two_nodes_4MiB", "dgx-h100-2-storage", "node0/gpu0..node1/gpu7", 4_MiB, CollectiveOp::AllReduce,
               "NVLSTree", "Simple"},
        Chosen{"two_nodes_64KiB", "hgx-h100-2", "node0/gpu0..node1/gpu7", 64_KiB, CollectiveOp::AllReduce, "Tree",
               "LL"}),
    [](auto const& chosen) { return chosen.param.name; });

// Every node but the root has a parent, from every node the way leads to the root, and who is inside one tree is a leaf
// of the other.
TEST(DoubleTree, IsTwoTreesOfWhichEveryNodeIsALeafInOne) {
  for (std::size_t nodes = 2; nodes <= 40; ++nodes) {
    std::vector<std::vector<std::size_t>> children(2, std::vector<std::size_t>(nodes, 0));
    for (int tree = 0; tree < 2; ++tree) {
      std::size_t roots = 0;
      for (std::size_t node = 0; node < nodes; ++node) {
        auto const parent = tree_parent(node, nodes, tree);
        roots += parent ? 0 : 1;
        if (parent) ++children[static_cast<std::size_t>(tree)][*parent];
        auto at = std::optional(node);
        for (std::size_t steps = 0; at; at = tree_parent(*at, nodes, tree)) ASSERT_LE(++steps, nodes);
      }
      EXPECT_EQ(roots, 1U);
    }
    for (std::size_t node = 0; nodes % 2 == 0 && node < nodes; ++node) {
      EXPECT_TRUE(children[0][node] == 0 || children[1][node] == 0) << node << " of " << nodes;
    }
  }
}

// Without launches a ring moves 2 S (n - 1) / n over every link, and the model's link gives the time.
TEST(NcclPlan, ARingTakesWhatItsLinksTake) {
  Model const model(machine_with("dgx-a100"));
  Collective collective{CollectiveOp::AllReduce, {}, 1_GiB};
  for (auto const& one : expand_range("gpu0..gpu7")) collective.among.push_back(model.machine().place(one));
  auto const plan = plan_by_library(model, collective, Library{});
  Bytes sent{0};
  for (auto const& step : plan.steps)
    if (step.from == collective.among.front() && step.to != step.from) sent += step.bytes;
  EXPECT_NEAR(static_cast<double>(sent.value()), 2.0 * 7 / 8 * static_cast<double>((1_GiB).value()), 64);
  auto const time = estimate(model, plan.steps).makespan;
  EXPECT_GT(bus_bandwidth(collective, time), 205.0_GBps);
  EXPECT_LT(bus_bandwidth(collective, time), 240.0_GBps);
}

// The network steps of an all-gather by rings among all GPUs of the first `nodes` of dgx-h100-2-storage's kind: whether
// each keeps to its rail, and the GPUs of an odd node in the order of the first ring.
struct RingsBetweenNodes {
  std::size_t crossing = 0, kept = 0;
  bool alternates = true;  // the hops of an odd node are an even node's the other way round
};
RingsBetweenNodes rings_between(std::size_t nodes, int minor, std::string const& cross_nic) {
  auto machine = bundled().machine_from(SourceText::from_memory(
      "some.yaml", fmt::format("lanewise: cluster/1\ncluster: some\nnodes: [{{machine: dgx-h100, count: {}}}]\n"
                               "fabric: {{kind: rail_optimised}}\n",
                               nodes)));
  for (auto const& text : {"library.env.NCCL_ALGO=Ring", "library.env.NCCL_PXN_DISABLE=1"})
    apply_setting(machine, parse_setting(text), bundled());
  apply_setting(machine, parse_setting("library.env.NCCL_CROSS_NIC=" + cross_nic), bundled());
  Model const model(machine);
  Collective collective{CollectiveOp::AllGather, {}, 1_GiB};
  for (std::size_t node = 0; node < nodes; ++node)
    for (auto const& one : {"gpu0", "gpu1"})
      collective.among.push_back(machine.place(fmt::format("node{}/{}", node, one)));
  RingsBetweenNodes found;
  std::map<std::string, std::set<std::string>> hops;  // by ring, of both nodes
  for (auto const& step : plan_by_library(model, collective, Library{LibraryKind::Nccl, 2, minor}).steps) {
    if (step.way.nic_from && step.way.nic_to)
      ++(machine.at(*step.way.nic_from).rail == machine.at(*step.way.nic_to).rail ? found.kept : found.crossing);
    auto const& ring = step.transfer;
    if (step.from != step.to && !step.way.nic_from)
      hops[ring].insert(machine.name_of(step.from) + ">" + machine.name_of(step.to));
  }
  for (auto const& [ring, of_ring] : hops)
    if (of_ring.contains("node0/gpu0>node0/gpu1") != of_ring.contains("node1/gpu1>node1/gpu0"))
      found.alternates = false;
  return found;
}

TEST(NcclPlan, AlternatingRingsKeepToTheirRails) {
  auto const two = rings_between(2, 30, "2");
  EXPECT_EQ(two.crossing, 0U);
  EXPECT_GT(two.kept, 0U);
  EXPECT_TRUE(two.alternates);
  // Of three nodes the last and the first are both even: what comes back crosses rails.
  auto const three = rings_between(3, 30, "2");
  EXPECT_EQ(three.crossing * 2, three.kept);
  EXPECT_TRUE(three.alternates);
  // With 2.20 three nodes exchange nothing, and every message crosses rails.
  auto const earlier = rings_between(3, 20, "2");
  EXPECT_EQ(earlier.kept, 0U);
  EXPECT_FALSE(earlier.alternates);
  EXPECT_EQ(rings_between(2, 20, "2").crossing, 0U);
  // Where it is asked for rings change rails and do not alternate, but with 2.20 to 2.22.
  EXPECT_GT(rings_between(2, 30, "1").crossing, 0U);
  EXPECT_FALSE(rings_between(2, 30, "1").alternates);
  EXPECT_EQ(rings_between(2, 21, "1").crossing, 0U);
}

TEST(NcclPlan, SaysWhatItCannotDo) {
  auto const error = [](std::string const& machine, std::string const& among, CollectiveOp op,
                        std::vector<std::string> const& settings = {}) -> std::string {
    Model const model(machine_with(machine, settings));
    Collective collective{op, {}, 16_MiB};
    for (auto const& one : expand_range(among)) collective.among.push_back(model.machine().place(one));
    try {
      plan_by_library(model, collective, Library{});
    } catch (PlanError const& problem) {
      return problem.what();
    }
    return "";
  };
  EXPECT_THAT(error("mi300x-x8", "gpu0..gpu7", CollectiveOp::AllReduce), HasSubstr("NCCL runs on NVIDIA GPUs"));
  EXPECT_THAT(error("hgx-h100", "gpu0..gpu7", CollectiveOp::Chain), HasSubstr("what NCCL does for chain is not known"));
  EXPECT_THAT(error("dgx-a100", "numa0..numa1", CollectiveOp::AllReduce), HasSubstr("is none"));
  EXPECT_THAT(error("hgx-h100", "gpu0..gpu7", CollectiveOp::AllReduce, {"library.env.NCCL_ALGO=CollNet"}),
              HasSubstr("leave NCCL no algorithm"));
  EXPECT_THAT(error("hgx-h100", "gpu0..gpu7", CollectiveOp::AllReduce, {"library.env.NCCL_MAX_NCHANNELS=few"}),
              HasSubstr("library.env.NCCL_MAX_NCHANNELS: 'few' is no number"));
}

// Between the sockets of EPYC 9575F there are four links of 48 GB/s, of which NCCL counts 16 in all; 18 is the least
// that it tries among Blackwell GPUs.
TEST(NcclPlan, SaysWhatItsConstantsCost) {
  auto const remarks = [](std::string const& name, std::string const& among) {
    Model const model(machine_with(name));
    Collective collective{CollectiveOp::AllReduce, {}, 64_MiB};
    for (auto const& one : expand_range(among)) collective.among.push_back(model.machine().place(one));
    return plan_by_library(model, collective, Library{}).library.value().remarks;
  };
  EXPECT_THAT(
      remarks("rtx5090-x8-turin", "gpu0..gpu7"),
      testing::Contains(HasSubstr("NCCL counts 16 GB/s between the sockets, which have 192; with these it would "
                                  "find 2 channels of 24 GB/s")));
  EXPECT_THAT(remarks("hgx-h100", "gpu0..gpu7"), testing::Not(testing::Contains(HasSubstr("between the sockets"))));
}

// NCCL counts 22 GB/s between the sockets of h100-pcie-x8, and more to its NICs, which are below the GPUs' switches.
// Within one node it counts no NICs.
TEST(NcclPlan, SaysWhereNcclSendsByNicsWithinANode) {
  auto const remarks = [](std::string const& node, std::string const& among, std::vector<std::string> const& settings) {
    auto machine = bundled().machine_from(SourceText::from_memory(
        "some.yaml", fmt::format("lanewise: cluster/1\ncluster: some\nnodes: [{{machine: {}, count: 2}}]\n"
                                 "fabric: {{kind: rail_optimised}}\n",
                                 node)));
    for (auto const& text : settings) apply_setting(machine, parse_setting(text), bundled());
    Model const model(std::move(machine));
    Collective collective{CollectiveOp::AllGather, {}, 64_MiB};
    for (auto const& one : expand_range(among)) collective.among.push_back(model.machine().place(one));
    return plan_by_library(model, collective, Library{}).library.value().remarks;
  };
  auto const by_nics = testing::Contains(HasSubstr("16 pairs of GPUs of a node by their NICs"));
  EXPECT_THAT(remarks("h100-pcie-x8", "node0/gpu0..node1/gpu7", {}), by_nics);
  EXPECT_THAT(remarks("h100-pcie-x8", "node0/gpu0..node1/gpu7", {"library.env.NCCL_NET_DISABLE_INTRA=1"}),
              testing::Not(by_nics));
  EXPECT_THAT(remarks("h100-pcie-x8", "node0/gpu0..node0/gpu7", {}), testing::Not(by_nics));
  EXPECT_THAT(remarks("dgx-a100", "node0/gpu0..node1/gpu7", {}), testing::Not(by_nics));
}

TEST(LibraryName, IsReadWithItsVersion) {
  EXPECT_EQ(parse_library("nccl").value, Library{});
  EXPECT_EQ(parse_library("nccl-2.18").value, (Library{LibraryKind::Nccl, 2, 18}));
  for (auto const* name : {"rccl", "mpi", "oneshot", "nccl-2.25"})
    EXPECT_EQ(to_string(*parse_library(name).value), name);
  EXPECT_EQ(parse_library("nccl-2.21.5").value, (Library{LibraryKind::Nccl, 2, 21}));
  for (auto const* wrong : {"nccl-2.17", "nccl-2.31", "nccl-3.1", "nccl-2.x", "rccl-2.27", ""})
    EXPECT_FALSE(parse_library(wrong).value) << wrong;
}

}  // namespace
}  // namespace lanewise::nccl
