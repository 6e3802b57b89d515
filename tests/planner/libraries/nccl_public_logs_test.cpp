// The rings that NCCL found on machines of others, as their logs print them (NCCL_DEBUG=INFO, subsystem GRAPH: "Pattern
// 4, ... nChannels 12, bw 20/20, type NVL/PIX"; figures retyped), and its estimates (TUNING), against what its rules
// give. A machine is described by what the log says of it: sockets, switches, NVLinks, and whether the driver allows
// peer access.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/planner/libraries/nccl/graph_search.hpp"
#include "lanewise/machine/setting.hpp"
#include "tests/planner/libraries/printed_cells.hpp"
#include "tests/support/machines.hpp"

namespace lanewise::nccl {
namespace {

Catalogue& bundled_for_logs() {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  return catalogue;
}

struct Log {
  std::string name;
  std::string source;
  std::string machine;  // a bundled one, or the text of a machine file
  std::size_t gpus = 8;
  bool several = false;
  int minor = 30;
  std::vector<std::string> settings = {};
  std::size_t channels = 0;
  double rate = 0;
  std::string intra = {};
};

std::string const kHead = R"(
lanewise: machine/1
machine: m
settings: {acs: off, iommu: pt, virtualization: none}
sockets:
)";
std::string const kSocketLink = "socket_links: [{between: [cpu0, cpu1], part: socket-link-generic, count: 1}]\n";
std::string const kSoftware = "software: {cuda: true}\n";

std::string socket_of(std::size_t number, std::string const& cpu) {
  return fmt::format("  - socket: cpu{0}\n    part: {1}\n    numa: [{{node: {0}}}]\n    pcie:\n", number, cpu);
}

// Two sockets with GPUs below root ports of their own.
std::string two_sockets(std::string const& cpu, std::string const& gpu, std::string const& link, std::size_t on_first,
                        std::size_t on_second, std::string const& rest = "") {
  auto text = kHead;
  std::size_t number = 0;
  for (std::size_t socket = 0; socket < 2; ++socket) {
    text += socket_of(socket, cpu);
    for (std::size_t i = 0; i < (socket == 0 ? on_first : on_second); ++i, ++number)
      text += fmt::format("      - {{root_port: rp{0}, link: {1}, gpu: gpu{0}, part: {2}}}\n", number, link, gpu);
    if ((socket == 0 ? on_first : on_second) == 0) text += "      []\n";
  }
  return text + kSocketLink + rest + kSoftware;
}

// Sockets of Intel with switches of gen4 x16: of each socket, of each of its switches, how many GPUs are below it.
std::string below_switches(std::vector<std::vector<std::size_t>> const& sockets, std::string const& gpu,
                           std::string const& rest) {
  auto text = kHead;
  std::size_t number = 0;
  std::size_t switches = 0;
  for (std::size_t socket = 0; socket < sockets.size(); ++socket) {
    text += socket_of(socket, "xeon-ice-lake");
    for (auto const count : sockets[socket]) {
      text += fmt::format("      - root_port: rp{0}\n        link: gen4 x16\n        switch: sw{0}\n", switches++);
      text += "        part: pex88096\n        ports:\n";
      for (std::size_t i = 0; i < count; ++i)
        text += fmt::format("          - {{gpu: gpu{}, part: {}}}\n", number++, gpu);
    }
  }
  return text + rest;
}

std::string const kSwitched = below_switches({{4}, {4}}, "rtx-4090", kSocketLink + kSoftware);
// In pairs below two switches, with eight NVLinks each to NVSwitch.
std::string const kEightLinks = below_switches(
    {{2, 2}}, "a100-sxm4-80g",
    "nvlinks: [{switch: nvswitch, switch_part: nvswitch-2, gpus: [gpu0..gpu3], generation: 3, count: 8}]\n"
    "software: {cuda: true, fabric_manager: true}\n");
std::string const kPairBelowSwitch = below_switches({{2}}, "a100-pcie-80g", kSoftware);

std::string const kPeersOff = "library.env.NCCL_P2P_DISABLE=1";

Machine machine_of(Log const& log) {
  bool const is_text = log.machine.find('\n') != std::string::npos;
  auto machine = is_text ? bundled_for_logs().machine_from(SourceText::from_memory("m.yaml", log.machine))
                         : bundled_for_logs().machine(log.machine);
  for (auto const& text : log.settings) apply_setting(machine, parse_setting(text), bundled_for_logs());
  return machine;
}

std::vector<PciId> gpus_of(Log const& log, Machine const& machine) {
  std::vector<PciId> gpus;
  for (auto const gpu : machine.all(PciKind::Gpu))
    if (gpus.size() < log.gpus && machine.host_of(gpu) == HostId(0)) gpus.push_back(gpu);
  return gpus;
}

class PublicLog : public testing::TestWithParam<Log> {};

TEST_P(PublicLog, HasTheRingsThatTheRulesGive) {
  auto const& log = GetParam();
  auto const machine = machine_of(log);
  Library const library{LibraryKind::Nccl, 2, log.minor};
  Topology const topology(machine, gpus_of(log, machine), library, machine.library_environment);
  auto const rings = search_rings(topology, log.several, library, machine.library_environment);
  EXPECT_EQ(rings.channels.size(), log.channels) << log.source;
  EXPECT_NEAR(rings.rate, log.rate, 0.01) << log.source;
  EXPECT_EQ(to_string(rings.intra), log.intra) << log.source;
}

INSTANTIATE_TEST_SUITE_P(
    Logs, PublicLog,
    testing::Values(
        Log{"four_h100_own",
            "own run, 4 x H100, 2026-11-27",
            "h100x4-vm",
            4,
            false,
            28,
            {"library.env.NCCL_NVLS_ENABLE=0"},
            12,
            30,
            "NVL"},
        Log{"eight_4090_intel",
            "NVIDIA/nccl-tests issue 307, NCCL 2.21.5",
            kSwitched,
            8,
            false,
            21,
            {kPeersOff},
            1,
            5,
            "SYS"},
        // Two RTX 5090, which NCCL treats as this part; "could not find a path for pattern 4".
        Log{"two_5090_genoa",
            "NVIDIA/nccl-tests issue 287, NCCL 2.25.1",
            two_sockets("epyc-zen4", "rtx-pro-6000-blackwell-server", "gen5 x16", 1, 1),
            2,
            false,
            25,
            {kPeersOff},
            1,
            0.1,
            "SYS"},
        Log{"four_4090_rome",
            "sugarlxn/nccl_test, NCCL 2.28.9",
            two_sockets("epyc-zen2", "rtx-4090", "gen4 x16", 2, 2),
            4,
            false,
            28,
            {kPeersOff},
            1,
            15,
            "SYS"},
        Log{"four_a6000_cascade_lake",
            "a public log of four A6000, NCCL 2.23.4",
            two_sockets("xeon-skylake", "a6000", "gen3 x16", 2, 2),
            4,
            false,
            23,
            {},
            1,
            10,
            "SYS"},
        Log{"two_a100_with_bridges",
            "Timez-zx/nccl-tests, NCCL 2.27.7",
            two_sockets("xeon-ice-lake", "a100-pcie-80g", "gen4 x16", 2, 0,
                        "nvlinks: [{between: [gpu0, gpu1], part: nvlink-3, count: 12}]\n"),
            2,
            false,
            27,
            {},
            12,
            20,
            "NVL"},
        Log{"two_a100_direct",
            "trimagiccube/my_nccl, NCCL 2.23.4",
            two_sockets("xeon-ice-lake", "a100-sxm4-80g", "gen4 x16", 2, 0,
                        "nvlinks: [{between: [gpu0, gpu1], part: nvlink-3, count: 12}]\n"),
            2,
            false,
            23,
            {},
            12,
            20,
            "NVL"},
        Log{"two_a100_one_socket",
            "thomaslie210/NCCL_Test_Results, NCCL 2.16.5, taken as 2.18",
            two_sockets("epyc-zen3", "a100-pcie-40g", "gen4 x16", 2, 0),
            2,
            false,
            18,
            {"library.env.NCCL_P2P_LEVEL=SYS"},
            2,
            12,
            "PHB"},
        // The following were searched for after the rules were written; none changed them.
        Log{"four_with_eight_nvlinks",
            "duihuhu/Megatron-LM, NCCL 2.19 by its messages; the GPU is not printed",
            kEightLinks,
            4,
            false,
            19,
            {},
            8,
            20,
            "NVL"},
        Log{"four_h100_peers_off",
            "cuiboyuan/nccl_miner, four_gpu_p2p_disabled, NCCL 2.23.4; Hopper by its NVLinks, gen4 x16 as seen",
            "h100x4-vm",
            4,
            false,
            23,
            {kPeersOff, "link@gpu0=gen4 x16", "link@gpu1=gen4 x16", "link@gpu2=gen4 x16", "link@gpu3=gen4 x16"},
            1,
            20,
            "PHB"},
        Log{"two_h100_peers_off",
            "cuiboyuan/nccl_miner, two_gpu_p2p_disabled, NCCL 2.23.4",
            "h100x2-vm",
            2,
            false,
            23,
            {kPeersOff, "link@gpu0=gen4 x16", "link@gpu1=gen4 x16"},
            1,
            20,
            "PHB"},
        Log{"two_a6000_bridged",
            "cuiboyuan/nccl_miner, NCCL 2.23.4; A6000 by its four NVLinks of 12 GB/s",
            two_sockets("epyc-zen3", "a6000", "gen4 x16", 2, 0,
                        "nvlinks: [{between: [gpu0, gpu1], part: nvlink-3-ga102, count: 4}]\n"),
            2,
            false,
            23,
            {},
            2,
            20,
            "NVL"},
        Log{"two_below_a_switch_peers_off",
            "cuiboyuan/nccl_log_rca_bench of 2026-07-15, NCCL 2.20.5; the GPU is not printed",
            kPairBelowSwitch,
            2,
            false,
            20,
            {"library.env.NCCL_P2P_LEVEL=LOC"},
            1,
            10,
            "PHB"},
        Log{"two_sockets_intel_peers_off",
            "cuiboyuan/nccl_log_rca_bench of 2026-03-23, NCCL 2.20.5; the GPU is not printed",
            two_sockets("xeon-ice-lake", "a100-pcie-80g", "gen4 x16", 1, 1),
            2,
            false,
            20,
            {"library.env.NCCL_P2P_LEVEL=LOC"},
            1,
            10,
            "SYS"},
        Log{"two_sockets_amd_peers_off",
            "cuiboyuan/nccl_log_rca_bench, baseline, NCCL 2.21.5; the GPU is not printed",
            two_sockets("epyc-zen3", "a100-pcie-80g", "gen4 x16", 1, 1),
            2,
            false,
            21,
            {"library.env.NCCL_P2P_LEVEL=LOC"},
            1,
            15,
            "SYS"},
        Log{"two_l4",
            "kopernik278/nccl-network-benchmark, p1, NCCL 2.25.1",
            two_sockets("epyc-zen3", "l4", "gen3 x16", 2, 0),
            2,
            false,
            25,
            {},
            1,
            12,
            "PHB"},
        // Four RTX PRO 4500, which have this part's generation.
        Log{"four_rtx_pro",
            "kopernik278/nccl-network-benchmark, p2 g4, NCCL 2.31.2",
            two_sockets("epyc-zen4", "rtx-pro-6000-blackwell-server", "gen4 x16", 4, 0),
            4,
            false,
            31,
            {},
            1,
            24,
            "PHB"}),
    [](auto const& log) { return log.param.name; });

// Rings that leave a node by another NIC than they came in by. Each GPU has a NIC below its own switch.
Graph rings_of(Log const& log) {
  auto const machine = machine_of(log);
  Library const library{LibraryKind::Nccl, 2, log.minor};
  Topology const topology(machine, gpus_of(log, machine), library, machine.library_environment);
  return search_rings(topology, log.several, library, machine.library_environment);
}

TEST(PublicLogOfSeveralNodes, TwoH20WithoutPxnAlternate) {
  auto const rings = rings_of({.name = "",
                               .source = "NVIDIA/nccl issue 1189, 2 x H20, NCCL 2.20 to 2.22 by its messages",
                               .machine = "dgx-h100-2-storage",
                               .gpus = 2,
                               .several = true,
                               .minor = 21,
                               .settings = {"library.env.NCCL_PXN_DISABLE=1"}});
  EXPECT_EQ(rings.rate, 24);
  EXPECT_EQ(rings.intra, PathType::Nvl);
  EXPECT_EQ(rings.inter, PathType::Pix);
  EXPECT_FALSE(rings.same_channels);
  EXPECT_EQ(rings.rail_change, RailChange::Alternating);
  Channel const there{{0, 1}, 0, 1};
  Channel const back{{1, 0}, 1, 0};
  EXPECT_THAT(rings.channels, testing::ElementsAre(there, back, there, back));
}

TEST(PublicLogOfSeveralNodes, EightOfHopperAlternate) {
  auto const rings = rings_of(
      {.name = "",
       .source =
           "a public study of collectives on 2 x 8 GPUs with NV18 and eight NICs of 400 "
           "Gb/s (its repository is not known), NCCL 2.28 or later by its messages; found after the rules were written",
       .machine = "dgx-h100-2-storage",
       .gpus = 8,
       .several = true,
       .minor = 28});
  EXPECT_EQ(rings.channels.size(), 8U);
  EXPECT_EQ(rings.rate, 48);
  EXPECT_EQ(rings.intra, PathType::Nvl);
  EXPECT_EQ(rings.inter, PathType::Pix);
  EXPECT_EQ(rings.rail_change, RailChange::Alternating);
  for (std::size_t i = 0; i < rings.channels.size(); i += 2) {
    EXPECT_EQ(rings.channels[i + 1].nic, rings.channels[i].nic_out);
    EXPECT_EQ(rings.channels[i + 1].nic_out, rings.channels[i].nic);
  }
}

// The tables of estimates that the same logs print (subsystem TUNING).
void expect_table(Log const& log, std::vector<PrintedCell> const& printed) {
  auto const machine = machine_of(log);
  Library const library{LibraryKind::Nccl, 2, log.minor};
  Topology const topology(machine, gpus_of(log, machine), library, machine.library_environment);
  expect_cells(of_one_node(topology, library), topology, library, printed);
}

TEST(PublicTables, OfNccl220AreAsPrinted) {
  using enum CollectiveOp;
  Log const below_switch{.name = "",
                         .source = "cuiboyuan/nccl_log_rca_bench of 2026-07-15, NCCL 2.20.5",
                         .machine = kPairBelowSwitch,
                         .gpus = 2,
                         .minor = 20,
                         .settings = {"library.env.NCCL_P2P_LEVEL=LOC"}};
  expect_table(below_switch, {{Broadcast, AlgorithmKind::Ring, Protocol::LL, 7.6, 3.3},
                              {Broadcast, AlgorithmKind::Ring, Protocol::Simple, 14.1, 10.0},
                              {AllGather, AlgorithmKind::Ring, Protocol::LL, 7.6, 6.7},
                              {AllGather, AlgorithmKind::Ring, Protocol::Simple, 14.1, 20.0},
                              {AllReduce, AlgorithmKind::Tree, Protocol::LL, 8.8, 2.4},
                              {AllReduce, AlgorithmKind::Tree, Protocol::Simple, 56.0, 9.2},
                              {AllReduce, AlgorithmKind::Ring, Protocol::LL, 8.6, 2.5},
                              {AllReduce, AlgorithmKind::Ring, Protocol::Simple, 19.8, 10.0}});
  auto two_sockets_of_intel = below_switch;
  two_sockets_of_intel.machine = two_sockets("xeon-ice-lake", "a100-pcie-80g", "gen4 x16", 1, 1);
  expect_table(two_sockets_of_intel, {{AllReduce, AlgorithmKind::Tree, Protocol::LL, 8.8, 1.2},
                                      {AllReduce, AlgorithmKind::Tree, Protocol::Simple, 56.0, 4.6}});
}

TEST(PublicTables, OfNccl221AreAsPrinted) {
  using enum CollectiveOp;
  expect_table({.name = "",
                .source = "cuiboyuan/nccl_log_rca_bench, baseline, NCCL 2.21.5",
                .machine = two_sockets("epyc-zen3", "a100-pcie-80g", "gen4 x16", 1, 1),
                .gpus = 2,
                .minor = 21,
                .settings = {"library.env.NCCL_P2P_LEVEL=LOC"}},
               {{Broadcast, AlgorithmKind::Ring, Protocol::LL, 7.6, 7.5},
                {AllGather, AlgorithmKind::Ring, Protocol::LL, 7.6, 15.0},
                {ReduceScatter, AlgorithmKind::Ring, Protocol::Simple, 14.1, 30.0},
                {AllReduce, AlgorithmKind::Tree, Protocol::LL, 8.8, 1.8},
                {AllReduce, AlgorithmKind::Tree, Protocol::Simple, 56.0, 6.9},
                {AllReduce, AlgorithmKind::Ring, Protocol::LL, 8.6, 7.5},
                {AllReduce, AlgorithmKind::Ring, Protocol::Simple, 19.8, 15.0}});
}

TEST(PublicTables, OfNccl223AreAsPrinted) {
  using enum CollectiveOp;
  expect_table(
      {.name = "",
       .source = "cuiboyuan/nccl_miner, four_gpu_p2p_disabled, NCCL 2.23.4",
       .machine = "h100x4-vm",
       .gpus = 4,
       .minor = 23,
       .settings = {kPeersOff, "link@gpu0=gen4 x16", "link@gpu1=gen4 x16", "link@gpu2=gen4 x16", "link@gpu3=gen4 x16"}},
      {{Broadcast, AlgorithmKind::Ring, Protocol::LL, 7.6, 10.0},
       {AllGather, AlgorithmKind::Ring, Protocol::LL, 9.6, 13.3},
       {AllGather, AlgorithmKind::Ring, Protocol::Simple, 25.5, 26.7},
       {AllReduce, AlgorithmKind::Tree, Protocol::LL, 12.8, 2.4},
       {AllReduce, AlgorithmKind::Tree, Protocol::Simple, 32.4, 9.2},
       {AllReduce, AlgorithmKind::Ring, Protocol::LL, 12.6, 6.7},
       {AllReduce, AlgorithmKind::Ring, Protocol::Simple, 42.6, 13.3}});
}

}  // namespace
}  // namespace lanewise::nccl
