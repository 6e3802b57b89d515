// The rings that NCCL found on machines of others, as their logs print them (NCCL_DEBUG=INFO, subsystem GRAPH: "Pattern
// 4,
// ... nChannels 12, bw 20/20, type NVL/PIX"; figures retyped), against what its rules give. A machine is described by
// what the log says of it: sockets, switches, NVLinks, and whether the driver allows peer access.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/planner/libraries/nccl/graph_search.hpp"
#include "lanewise/machine/setting.hpp"
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
  std::string intra;
};

// Two sockets with GPUs below root ports of their own.
std::string two_sockets(std::string const& cpu, std::string const& gpu, std::string const& link, std::size_t on_first,
                        std::size_t on_second, std::string const& rest = "") {
  auto text = std::string(R"(
lanewise: machine/1
machine: m
settings: {acs: off, iommu: pt, virtualization: none}
sockets:
)");
  std::size_t number = 0;
  for (std::size_t socket = 0; socket < 2; ++socket) {
    text += fmt::format("  - socket: cpu{0}\n    part: {1}\n    numa: [{{node: {0}}}]\n    pcie:\n", socket, cpu);
    for (std::size_t i = 0; i < (socket == 0 ? on_first : on_second); ++i, ++number)
      text += fmt::format("      - {{root_port: rp{0}, link: {1}, gpu: gpu{0}, part: {2}}}\n", number, link, gpu);
    if ((socket == 0 ? on_first : on_second) == 0) text += "      []\n";
  }
  return text + "socket_links: [{between: [cpu0, cpu1], part: socket-link-generic, count: 1}]\n" + rest +
         "software: {cuda: true}\n";
}

// Two sockets with four GPUs each below one switch.
std::string const kSwitched = R"(
lanewise: machine/1
machine: m
settings: {acs: off, iommu: pt, virtualization: none}
sockets:
  - socket: cpu0
    part: xeon-ice-lake
    numa: [{node: 0}]
    pcie:
      - root_port: rp0
        link: gen4 x16
        switch: sw0
        part: pex88096
        ports: [{gpu: gpu0, part: rtx-4090}, {gpu: gpu1, part: rtx-4090}, {gpu: gpu2, part: rtx-4090}, {gpu: gpu3, part: rtx-4090}]
  - socket: cpu1
    part: xeon-ice-lake
    numa: [{node: 1}]
    pcie:
      - root_port: rp1
        link: gen4 x16
        switch: sw1
        part: pex88096
        ports: [{gpu: gpu4, part: rtx-4090}, {gpu: gpu5, part: rtx-4090}, {gpu: gpu6, part: rtx-4090}, {gpu: gpu7, part: rtx-4090}]
socket_links: [{between: [cpu0, cpu1], part: socket-link-generic, count: 1}]
software: {cuda: true}
)";

std::string const kPeersOff = "library.env.NCCL_P2P_DISABLE=1";

class PublicLog : public testing::TestWithParam<Log> {};

TEST_P(PublicLog, HasTheRingsThatTheRulesGive) {
  auto const& log = GetParam();
  bool const is_text = log.machine.find('\n') != std::string::npos;
  auto machine = is_text ? bundled_for_logs().machine_from(SourceText::from_memory("m.yaml", log.machine))
                         : bundled_for_logs().machine(log.machine);
  for (auto const& text : log.settings) apply_setting(machine, parse_setting(text), bundled_for_logs());
  std::vector<PciId> gpus;
  for (auto const gpu : machine.all(PciKind::Gpu))
    if (gpus.size() < log.gpus && machine.host_of(gpu) == HostId(0)) gpus.push_back(gpu);
  Library const library{LibraryKind::Nccl, 2, log.minor};
  Topology const topology(machine, gpus, library, machine.library_environment);
  auto const rings = search_rings(topology, log.several, library);
  EXPECT_EQ(rings.channels.size(), log.channels) << log.source;
  EXPECT_NEAR(rings.rate, log.rate, 0.01) << log.source;
  EXPECT_EQ(to_string(rings.intra), log.intra) << log.source;
}

INSTANTIATE_TEST_SUITE_P(
    Logs, PublicLog,
    testing::Values(Log{"four_h100_own",
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
                        "PHB"}),
    [](auto const& log) { return log.param.name; });

}  // namespace
}  // namespace lanewise::nccl
