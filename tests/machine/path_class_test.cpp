#include "core/machine/path_class.hpp"

#include <gtest/gtest.h>

#include "tests/support/server.hpp"

namespace lanewise {
namespace {

PciId at(Machine const& machine, std::string_view name) { return *machine.find_function(name); }
std::string between(Machine const& machine, std::string_view a, std::string_view b) {
  auto const there = path_class(machine, at(machine, a), at(machine, b));
  EXPECT_EQ(path_class(machine, at(machine, b), at(machine, a)), there);
  return std::string(to_string(there));
}
std::string to_memory(Machine const& machine, std::string_view a, std::string_view memory) {
  return std::string(to_string(path_class(machine, at(machine, a), std::get<NumaId>(machine.place(memory)))));
}

// Nested switches, two host bridges on one NUMA node, a second NUMA node on the socket, a second socket.
Machine every_distance() {
  return test::machine_from(R"(lanewise: machine/1
machine: m
sockets:
  - socket: cpu0
    numa: [{node: 0}, {node: 1}]
    pcie:
      - root_port: rp0
        host_bridge: hb0
        switch: sw0
        part: unknown
        ports:
          - {gpu: gpu0, part: unknown}
          - {gpu: gpu1, part: unknown}
          - {switch: sw1, part: unknown, ports: [{gpu: gpu2, part: unknown}]}
      - {root_port: rp1, host_bridge: hb0, gpu: gpu3, part: unknown}
      - {root_port: rp2, host_bridge: hb1, gpu: gpu4, part: unknown}
      - {root_port: rp3, host_bridge: hb2, numa: 1, gpu: gpu5, part: unknown}
  - {socket: cpu1, numa: [{node: 2}], pcie: [{root_port: rp4, gpu: gpu6, part: unknown}]}
)");
}

TEST(PathClass, OfTwoFunctions) {
  auto const machine = every_distance();
  EXPECT_EQ(between(machine, "gpu0", "gpu0"), "X");
  EXPECT_EQ(between(machine, "gpu0", "gpu1"), "PIX");
  EXPECT_EQ(between(machine, "gpu0", "gpu2"), "PXB");
  EXPECT_EQ(between(machine, "gpu0", "gpu3"), "PHB");
  EXPECT_EQ(between(machine, "gpu0", "gpu4"), "NODE");
  EXPECT_EQ(between(machine, "gpu0", "gpu5"), "SYS");  // another NUMA node of the same socket
  EXPECT_EQ(between(machine, "gpu0", "gpu6"), "SYS");
}

TEST(PathClass, OfAFunctionAndMemory) {
  auto const machine = every_distance();
  EXPECT_EQ(to_memory(machine, "gpu0", "numa0"), "PHB");
  EXPECT_EQ(to_memory(machine, "gpu0", "numa1"), "NODE");
  EXPECT_EQ(to_memory(machine, "gpu0", "numa2"), "SYS");
  EXPECT_EQ(to_memory(machine, "gpu5", "cpu0"), "NODE");  // a socket stands for its first NUMA node
}

TEST(PathClass, OfTwoNodes) {
  auto const cluster = test::cluster_of({}, "kind: direct");
  EXPECT_EQ(between(cluster, "node0/gpu0", "node1/gpu0"), "NET");
  EXPECT_EQ(to_memory(cluster, "node0/gpu0", "node1/numa0"), "NET");
}

TEST(PathClass, VirtualSwitchesOfOneChipAreSwitchesOfTheirOwn) {
  auto const machine =
      test::machine_of({.pcie_switch = "link: gen4 x16, virtual_switch_fabric: 20 GB/s", .at_sw0 = "chip: c0"});
  EXPECT_EQ(between(machine, "gpu0", "gpu2"), "NODE");
}

TEST(CommonSwitch, IsTheNearestAboveBoth) {
  auto const machine = every_distance();
  EXPECT_EQ(common_switch(machine, at(machine, "gpu0"), at(machine, "gpu2")), at(machine, "sw0"));
  EXPECT_EQ(common_switch(machine, at(machine, "gpu2"), at(machine, "sw1")), at(machine, "sw1"));
  EXPECT_EQ(common_switch(machine, at(machine, "gpu0"), at(machine, "gpu3")), std::nullopt);
  EXPECT_EQ(common_switch(machine, at(machine, "gpu0"), at(machine, "rp0")), std::nullopt);
}

TEST(NvlinkCount, AddsBundlesAndSwitches) {
  auto const machine = test::machine_of(
      {.nvlinks = "{between: [gpu0, gpu1], part: nvlink, count: 3}, {between: [gpu1, gpu0], part: nvlink, count: 1}, "
                  "{switch: s, switch_part: nvswitch, part: nvlink, count: 2, gpus: [gpu0, gpu2]}, "
                  "{switch: s, switch_part: nvswitch, part: nvlink, count: 1, gpus: [gpu3]}"});
  EXPECT_EQ(nvlink_count(machine, at(machine, "gpu0"), at(machine, "gpu1")), 4);
  EXPECT_EQ(nvlink_count(machine, at(machine, "gpu0"), at(machine, "gpu2")), 2);
  EXPECT_EQ(nvlink_count(machine, at(machine, "gpu2"), at(machine, "gpu3")), 1);  // the narrower port
  EXPECT_EQ(nvlink_count(machine, at(machine, "gpu1"), at(machine, "gpu3")), 0);
}

TEST(AssumedLink, IsTheLeastOfWhatBothEndsCan) {
  auto const machine = test::machine_from(R"(lanewise: machine/1
machine: m
parts:
  cpu: {kind: cpu, root_port_generation: 3}
  gpu: {kind: gpu, link: gen5 x16}
  sw: {kind: switch, link: gen4 x8}
  silent: {kind: gpu}
sockets:
  - socket: cpu0
    part: cpu
    pcie:
      - {root_port: rp0, switch: sw0, part: sw, ports: [{gpu: g0, part: gpu}, {gpu: g1, part: gpu, max: gen2 x4}, {gpu: g2, part: silent}]}
      - {root_port: rp1, gpu: g3, part: gpu}
      - {root_port: rp2, gpu: g4, part: unknown}
)");
  auto const link = [&](std::string_view name) { return assumed_link(machine, at(machine, name)); };
  EXPECT_EQ(link("g0"), (PcieLink{4, 8}));
  EXPECT_EQ(link("g1"), (PcieLink{2, 4}));
  EXPECT_EQ(link("g2"), std::nullopt);
  EXPECT_EQ(link("g3"), (PcieLink{3, 16}));
  EXPECT_EQ(link("g4"), std::nullopt);
}

}  // namespace
}  // namespace lanewise
