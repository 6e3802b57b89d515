#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanewise/machine/machine_file.hpp"
#include "tests/support/marked_errors.hpp"
#include "tests/support/server.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using test::machine_from;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A head with parts, eleven lines, and what the test adds.
std::string machine_file(std::string const& body) {
  return R"(lanewise: machine/1
machine: m
parts:
  cpu: {kind: cpu, root_port_generation: 4}
  gpu: {kind: gpu, link: gen4 x16, vendor: nvidia, nvlink_ports: 4}
  nic: {kind: nic, link: gen4 x8}
  pcie-switch: {kind: switch, link: gen4 x16}
  upi: {kind: link, family: socket, rate: 20 GB/s}
  nvlink-2: {kind: link, family: nvlink, generation: 2, rate: 25 GB/s}
  crossbar: {kind: nvswitch}
)" + body;
}

void expect_errors(std::string const& body, std::vector<std::string> const& messages) {
  test::expect_errors(machine_file(body), messages, [](SourceText const& source) {
    Catalogue none({});
    read_machine(source, none);
  });
}
// The same, of what stands below the ports of a socket.
void expect_port_errors(std::string const& ports, std::vector<std::string> const& messages) {
  expect_errors("sockets:\n  - socket: cpu0\n    part: cpu\n    pcie:\n" + ports, messages);
}

constexpr char kTwoGpus[] = R"(sockets:
  - socket: cpu0
    part: cpu
    pcie:
      - {root_port: rp0, gpu: gpu0, part: gpu}
      - {root_port: rp1, gpu: gpu1, part: gpu}
  - {socket: cpu1, part: cpu}
)";

// ---------------------------------------------------------------------------------------------------------- it reads

TEST(MachineReader, LaysOutTheTree) {
  auto const machine = machine_from(test::text_of({}));
  EXPECT_EQ(machine.name, "server");
  ASSERT_EQ(machine.functions.size(), 13U);
  auto const sw0 = *machine.find_function("sw0");
  auto const gpu1 = *machine.find_function("gpu1");
  EXPECT_EQ(machine.at(gpu1).parent, sw0);
  EXPECT_EQ(machine.at(sw0).parent, machine.find_function("rp0"));
  EXPECT_EQ(machine.at(gpu1).link, (PcieLink{4, 16}));
  EXPECT_EQ(machine.at(machine.socket_of(gpu1)).name, "cpu0");
  EXPECT_EQ(machine.at(machine.numa_of(*machine.find_function("gpu3"))).name, "numa1");
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 4U);
  EXPECT_EQ(machine.part_of(gpu1)->gpu.chip, "ga100");
}

TEST(MachineReader, SettingsAndSoftware) {
  auto const machine =
      machine_from(test::text_of({.settings = "acs: [RR, CR], iommu: translated, iommu_page: 2 MiB, virtualization: "
                                              "{kind: passthrough, hypervisor: kvm, clique: "
                                              "[gpu0..gpu1], cliques: [[gpu2, gpu3]], ats: true}",
                                  .software = "cuda: false, peermem: yes"}));
  auto const& settings = machine.hosts.front().settings;
  EXPECT_EQ(settings.acs.bits, AcsControl::kRequestRedirect | AcsControl::kCompletionRedirect);
  EXPECT_EQ(settings.iommu, IommuMode::Lazy);
  EXPECT_EQ(settings.iommu_page, Bytes(2 << 20));
  EXPECT_TRUE(settings.virtualization.passthrough);
  EXPECT_TRUE(settings.virtualization.ats);
  EXPECT_THAT(settings.virtualization.cliques, ElementsAre(ElementsAre("gpu0", "gpu1"), ElementsAre("gpu2", "gpu3")));
  EXPECT_FALSE(machine.hosts.front().software.cuda);
  EXPECT_TRUE(machine.hosts.front().software.peermem);
}

TEST(MachineReader, WhatTheFileDoesNotSayIsUnknown) {
  auto const machine = machine_from("lanewise: machine/1\nmachine: m\nsockets: [{socket: cpu0}]\n");
  EXPECT_EQ(machine.hosts.front().settings.acs, AcsControl::unknown());
  EXPECT_EQ(machine.hosts.front().settings.iommu, IommuMode::Unknown);
  EXPECT_FALSE(machine.sockets.front().part);
}

TEST(MachineReader, HostBridgesFollowTheCpuUnlessNamed) {
  auto const ports = R"(, pcie: [{root_port: rp0, gpu: g0, part: unknown}, {root_port: rp1, gpu: g1, part: unknown}]}]
)";
  auto const bridges = [&](std::string const& part) {
    return machine_from(
               "lanewise: machine/1\nmachine: m\nparts: {one: {kind: cpu, host_bridges: per_socket}, each: {kind: "
               "cpu}}\n"
               "sockets: [{socket: cpu0, part: " +
               part + ports)
        .host_bridges.size();
  };
  EXPECT_EQ(bridges("one"), 1U);
  EXPECT_EQ(bridges("each"), 2U);
  EXPECT_EQ(bridges("unknown"), 1U);
}

TEST(MachineReader, EntriesOfOneNvswitchAddUp) {
  auto const machine = machine_from(
      test::text_of({.nvlinks = "{switch: nv, switch_part: nvswitch, part: nvlink, count: 4, gpus: [gpu0..gpu1]}, "
                                "{switch: nv, switch_part: nvswitch, part: nvlink, count: 2, gpus: [gpu3]}"}));
  ASSERT_EQ(machine.nvswitches.size(), 1U);
  ASSERT_EQ(machine.nvswitches[0].ports.size(), 3U);
  EXPECT_EQ(machine.nvswitches[0].ports[2].count, 2);
}

// ------------------------------------------------------------------------------------------------------------- names

TEST(MachineReader, ANameIsUsedOnce) {
  expect_port_errors(
      "      - {root_port: rp0, gpu: gpu0, part: gpu}\n      - {root_port: rp1, gpu: §gpu0, part: gpu}\n",
      {"the name 'gpu0' is already used at line 15"});
  expect_port_errors("      - {root_port: §cpu0, gpu: gpu0, part: gpu}\n",
                     {"the name 'cpu0' is already used at line 12"});
  expect_errors("sockets: [{socket: cpu0, part: cpu}, {socket: §cpu0, part: cpu}]\n", {"'cpu0' is already used"});
  expect_errors("sockets:\n  - {socket: cpu0, part: cpu, numa: [{node: 0}, §{node: 0}]}\n",
                {"'numa0' is already used"});
}

TEST(MachineReader, ADeviceHasOneParent) {
  expect_port_errors(R"(      - root_port: rp0
        switch: sw0
        part: pcie-switch
        ports: [{gpu: gpu0, part: gpu}]
      - root_port: rp1
        switch: sw1
        part: pcie-switch
        ports: [{gpu: §gpu0, part: gpu}]
)",
                     {"every socket, port and device has its own name and one parent"});
}

TEST(MachineReader, ASwitchDoesNotHangFromItself) {
  expect_port_errors(R"(      - root_port: rp0
        switch: sw0
        part: pcie-switch
        ports:
          - switch: sw1
            part: pcie-switch
            ports:
              - {switch: §sw0, part: pcie-switch}
)",
                     {"cycle: 'sw0' is inside itself (it begins at line 16)"});
}

TEST(MachineReader, NamesArePlain) {
  expect_errors("sockets: [{socket: §cpu 0, part: cpu}]\n", {"'cpu 0' is not a name"});
}

// --------------------------------------------------------------------------------------------------------------- keys

TEST(MachineReader, UnknownKeysSuggestTheNearest) {
  expect_port_errors("      - {root_port: rp0, §gup: gpu0, gpu: gpu1, part: gpu}\n",
                     {"port: unknown key 'gup'; did you mean 'gpu'?"});
  expect_errors("§socket: []\nsockets: [{socket: cpu0}]\n", {"machine: unknown key 'socket'; did you mean 'sockets'?"});
  expect_errors("settings: {§asc: on}\nsockets: [{socket: cpu0}]\n",
                {"settings: unknown key 'asc'; did you mean 'acs'?"});
  expect_errors("software: {§cudaa: on}\nsockets: [{socket: cpu0}]\n", {"did you mean 'cuda'?"});
}

TEST(MachineReader, AMachineHasASocket) {
  expect_errors("§sockets: []\n", {"a machine has at least one socket"});
  test::expect_errors("§lanewise: machine/1\nmachine: m\n", {"the key 'sockets' is missing"},
                      [](SourceText const& source) {
                        Catalogue none({});
                        read_machine(source, none);
                      });
}

TEST(MachineReader, AFileOfAnotherKindIsRefused) {
  test::expect_errors("lanewise: §scenario/1\n", {"this is 'scenario/1', but 'machine/1' is needed"},
                      [](SourceText const& source) {
                        Catalogue none({});
                        read_machine(source, none);
                      });
}

// -------------------------------------------------------------------------------------------------------------- parts

TEST(MachineReader, PartsMustBeKnown) {
  expect_errors("sockets: [{socket: cpu0, part: §cpo}]\n",
                {"no part is called 'cpo'; did you mean 'cpu'? parts are files in parts/"});
}

TEST(MachineReader, PartsMustBeOfTheKindThatIsNeeded) {
  expect_errors("sockets: [{socket: cpu0, part: §gpu}]\n", {"the part 'gpu' is a gpu, but a cpu is needed here"});
  expect_port_errors("      - {root_port: rp0, gpu: gpu0, part: §pcie-switch}\n",
                     {"the part 'pcie-switch' is a switch, but a gpu is needed"});
  expect_errors(std::string(kTwoGpus) + "socket_links: [{between: [cpu0, cpu1], part: §gpu}]\n",
                {"but a link is needed"});
  expect_errors(
      std::string(kTwoGpus) + "nvlinks: [{switch: s, switch_part: §upi, generation: 2, count: 1, gpus: [gpu0]}]\n",
      {"the part 'upi' is a link, but a nvswitch is needed"});
}

TEST(MachineReader, ADeviceSaysItsPartOrThatItIsUnknown) {
  expect_port_errors("      - §{root_port: rp0, gpu: gpu0}\n",
                     {"'gpu0' has no part; name one, or write 'part: unknown'"});
  EXPECT_FALSE(
      machine_from(
          "lanewise: machine/1\nmachine: m\nsockets: [{socket: cpu0, pcie: [{root_port: r, gpu: g, part: unknown}]}]\n")
          .functions.back()
          .part);
}

TEST(MachineReader, InlinePartsAreCheckedLikeFiles) {
  auto const read = [](SourceText const& source) {
    Catalogue none({});
    read_machine(source, none);
  };
  auto const with_part = [](std::string const& part) {
    return "lanewise: machine/1\nmachine: m\nparts:\n  p: " + part + "\nsockets: [{socket: cpu0}]\n";
  };
  test::expect_errors(with_part("§{link: gen4 x16}"), {"part 'p': the key 'kind' is missing; allowed: cpu, gpu"}, read);
  test::expect_errors(with_part("{kind: §gup}"), {"kind 'gup' is not known; did you mean 'gpu'?"}, read);
  test::expect_errors(with_part("{kind: gpu, link: §gen7 x16}"), {"the generation must be gen1 to gen6"}, read);
  test::expect_errors(with_part("{kind: gpu, link: §gen4 x3}"), {"the width must be x1, x2"}, read);
  test::expect_errors(with_part("{kind: gpu, memory: §-80 GiB}"), {"must be zero or more"}, read);
  test::expect_errors(with_part("{kind: gpu, memory_bandwidth: §2000}"), {"has no unit"}, read);
  test::expect_errors(with_part("{kind: gpu, latency: §130 GB/s}"), {"unknown unit 'GB/s' for a time"}, read);
  test::expect_errors(with_part("{kind: cpu, peer_write_forwarding: §all}"), {"'all' is not known"}, read);
  test::expect_errors(with_part("{kind: gpu, §cores: 4}"), {"gpu part: unknown key 'cores'"}, read);
  test::expect_errors("lanewise: machine/1\nmachine: m\nparts: §[a]\nsockets: [{socket: cpu0}]\n",
                      {"expected a mapping of names to parts"}, read);
}

// -------------------------------------------------------------------------------------------------------------- ports

TEST(MachineReader, APortHoldsExactlyOneThing) {
  expect_port_errors("      - §{root_port: rp0, gpu: gpu0, nic: nic0, part: gpu}\n",
                     {"a port holds exactly one of switch, gpu, nic, nvme, device"});
  expect_port_errors("      - {root_port: rp0, switch: sw0, part: pcie-switch, ports: [§{part: gpu}]}\n",
                     {"a port holds exactly one of"});
  EXPECT_EQ(machine_from("lanewise: machine/1\nmachine: m\nsockets: [{socket: cpu0, pcie: [{root_port: rp0}]}]\n")
                .functions.size(),
            1U);
}

TEST(MachineReader, ASwitchNeedsAPortAboveIt) {
  expect_port_errors("      - {§switch: sw0, part: pcie-switch}\n",
                     {"the switch 'sw0' needs a port above it; add 'root_port: NAME'"});
}

TEST(MachineReader, OnlyASwitchHasPorts) {
  expect_port_errors("      - {root_port: rp0, gpu: gpu0, part: gpu, §ports: []}\n",
                     {"only a switch has ports; 'gpu0' is a gpu"});
  expect_port_errors("      - {root_port: rp0, §ports: [{gpu: gpu0, part: gpu}]}\n",
                     {"'ports' are those of a switch; name it beside them: 'switch: NAME'"});
}

TEST(MachineReader, ARootPortHangsFromASocket) {
  expect_port_errors(
      "      - {root_port: rp0, switch: sw0, part: pcie-switch, ports: [{§root_port: rp9, gpu: gpu0, part: gpu}]}\n",
      {"a root port belongs to a socket, not to a switch"});
}

TEST(MachineReader, KeysBelongToTheirKind) {
  expect_port_errors(
      "      - {root_port: rp0, gpu: gpu0, part: gpu, §chip: c, §device_name: d, §rate: 1 GB/s, §rail: 0}\n",
      {"'chip' belongs to a switch, but 'gpu0' is a gpu", "'device_name' belongs to a nic", "'rate' belongs to a nic",
       "'rail' belongs to a nic"});
  expect_port_errors("      - {root_port: rp0, nic: nic0, part: nic, §mig: true}\n",
                     {"'mig' belongs to a gpu, but 'nic0' is a nic"});
}

TEST(MachineReader, ALinkIsNotWiderThanItsPart) {
  expect_port_errors("      - {root_port: rp0, nic: nic0, part: nic, link: §gen4 x16}\n",
                     {"gen4 x16 is more than the part 'nic' can do (gen4 x8)"});
  expect_port_errors("      - {root_port: rp0, nic: nic0, part: nic, link: gen3 x4, max: §gen4 x16}\n",
                     {"'max': gen4 x16 is more than the part 'nic'"});
}

TEST(MachineReader, AGenericPartDoesNotLimitALink) {
  auto catalogue = Catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  auto const machine = read_machine(SourceText::from_memory("m.yaml", R"(lanewise: machine/1
machine: m
sockets:
  - socket: cpu0
    pcie:
      - {root_port: rp0, switch: sw0, part: pcie-switch-generic, ports: [{gpu: gpu0, part: gpu-generic, link: gen6 x16}]}
)"),
                                    catalogue);
  ASSERT_NE(catalogue.part("gpu-generic")->pcie.link, (PcieLink{6, 16}));
  EXPECT_EQ(machine.at(*machine.find_function("gpu0")).link, (PcieLink{6, 16}));
}

TEST(MachineReader, ALinkIsNotWiderThanItsSlot) {
  test::expect_errors(R"(lanewise: machine/1
machine: m
parts:
  wide: {kind: gpu, link: gen5 x16}
  narrow: {kind: switch, link: gen5 x8}
sockets:
  - socket: cpu0
    pcie:
      - {root_port: rp0, switch: sw0, part: narrow, ports: [{gpu: gpu0, part: wide, link: §gen5 x16}]}
)",
                      {"gen5 x16 is more than a port of the switch 'sw0' can do (gen5 x8)"},
                      [](SourceText const& source) {
                        Catalogue none({});
                        read_machine(source, none);
                      });
}

TEST(MachineReader, ALinkIsNotNewerThanTheCpu) {
  test::expect_errors(R"(lanewise: machine/1
machine: m
parts: {old: {kind: cpu, root_port_generation: 3}, new: {kind: gpu, link: gen5 x16}}
sockets: [{socket: cpu0, part: old, pcie: [{root_port: rp0, gpu: gpu0, part: new, link: §gen4 x16}]}]
)",
                      {"gen4 x16 is more than a root port of 'old' can do (gen3 x32)"}, [](SourceText const& source) {
                        Catalogue none({});
                        read_machine(source, none);
                      });
}

TEST(MachineReader, AcsIsAWordOrBits) {
  expect_port_errors("      - {root_port: rp0, gpu: gpu0, part: gpu, acs: §sometimes}\n",
                     {"'sometimes' is not an ACS control bit; allowed: on, off, unknown"});
  expect_port_errors("      - {root_port: rp0, gpu: gpu0, part: gpu, acs: §[RR, XX]}\n",
                     {"'XX' is not an ACS control bit"});
}

TEST(MachineReader, NothingIsNoAcsControl) {
  expect_port_errors("      - {root_port: rp0, gpu: gpu0, part: gpu, acs: §[]}\n", {"ACS"});
  expect_port_errors("      - {root_port: rp0, gpu: gpu0, part: gpu, acs: §{RR: true}}\n", {"ACS"});
  expect_port_errors("      - {root_port: rp0, gpu: gpu0, part: gpu, acs: §''}\n", {"ACS"});
}

// ------------------------------------------------------------------------------------------------------- NUMA, bridges

TEST(MachineReader, ARootPortIsNearANumaNodeOfItsSocket) {
  expect_port_errors("      - {root_port: rp0, numa: §3, gpu: gpu0, part: gpu}\n",
                     {"socket 'cpu0' has no NUMA node 3"});
}

TEST(MachineReader, AHostBridgeBelongsToOneSocket) {
  expect_errors(R"(sockets:
  - {socket: cpu0, part: cpu, pcie: [{root_port: rp0, host_bridge: hb, gpu: gpu0, part: gpu}]}
  - {socket: cpu1, part: cpu, pcie: [{root_port: rp1, host_bridge: §hb, gpu: gpu1, part: gpu}]}
)",
                {"the host bridge 'hb' belongs to another socket or NUMA node"});
}

// -------------------------------------------------------------------------------------------------------- other links

TEST(MachineReader, SocketLinksJoinTwoSockets) {
  expect_errors(std::string(kTwoGpus) + "socket_links: [{between: §[cpu0, cpu9], part: upi}]\n",
                {"no socket is called 'cpu9'; did you mean"});
  expect_errors(std::string(kTwoGpus) + "socket_links: [{between: §[cpu0, gpu0], part: upi}]\n",
                {"no socket is called 'gpu0'"});
  expect_errors(std::string(kTwoGpus) + "socket_links: [{§between: [cpu0, cpu0], part: upi}]\n",
                {"names two different ends"});
  expect_errors(std::string(kTwoGpus) + "socket_links: [{§between: [cpu0], part: upi}]\n",
                {"names two different ends"});
  expect_errors(std::string(kTwoGpus) + "socket_links: [{between: [cpu0, cpu1], part: upi, count: §0}]\n",
                {"'count' must be at least 1"});
}

TEST(MachineReader, NvlinksJoinGpus) {
  expect_errors(std::string(kTwoGpus) + "nvlinks: [{between: §[gpu0, gpu7], generation: 2, count: 1}]\n",
                {"no GPU or socket is called 'gpu7'; did you mean"});
  expect_errors(std::string(kTwoGpus) + "nvlinks: [{between: §[gpu0, rp1], generation: 2, count: 1}]\n",
                {"no GPU or socket is called 'rp1'"});
  expect_errors(std::string(kTwoGpus) + "nvlinks: [{between: [gpu0, gpu1], generation: §6, count: 1}]\n",
                {"NVLink generation 6 is not known; 1 to 5 are"});
  expect_errors(std::string(kTwoGpus) + "nvlinks: [{between: [gpu0, gpu1], generation: 2, count: §0}]\n",
                {"'count' must be at least 1"});
  expect_errors(std::string(kTwoGpus) + "nvlinks: [§{between: [gpu0, gpu1], generation: 2}]\n",
                {"the key 'count' is missing"});
  expect_errors(std::string(kTwoGpus) + "nvlinks: [§{between: [gpu0, gpu1], count: 1}]\n",
                {"an NVLink needs 'generation: 1..5' or 'part: NAME'"});
  expect_errors(std::string(kTwoGpus) + "nvlinks: [§{generation: 2, count: 1}]\n",
                {"has either 'between: [two ends]' or 'switch: NAME'"});
  expect_errors(std::string(kTwoGpus) + "nvlinks: [{between: [gpu0, gpu1], generation: §1, count: 1}]\n",
                {"no part is called 'nvlink-1'"});
}

TEST(MachineReader, AGpuHasNoMoreNvlinksThanPorts) {
  expect_errors(std::string(kTwoGpus) + "§§nvlinks: [{between: [gpu0, gpu1], generation: 2, count: 5}]\n",
                {"'gpu0' has 5 NVLinks here, but its part 'gpu' has 4 ports", "'gpu1' has 5 NVLinks"});
}

TEST(MachineReader, AnNvswitchHasPartAndGpus) {
  expect_errors(std::string(kTwoGpus) + "nvlinks: [{§switch: s, generation: 2, count: 1, gpus: [gpu0]}]\n",
                {"needs 'switch_part: NAME'"});
  expect_errors(std::string(kTwoGpus) + "nvlinks: [§{switch: s, switch_part: crossbar, generation: 2, count: 1}]\n",
                {"has no GPUs; add 'gpus: [gpu0..gpu7]'"});
  expect_errors(
      std::string(kTwoGpus) +
          "nvlinks: [{switch: s, switch_part: crossbar, generation: 2, count: 1, gpus: [gpu0, §gpu0..gpu]}]\n",
      {"'gpu0..gpu' is not a range"});
  expect_errors(std::string(kTwoGpus) +
                    "nvlinks: [{switch: s, switch_part: crossbar, generation: 2, count: 1, gpus: §[gpu0..gpu2]}]\n",
                {"no GPU is called 'gpu2'"});
}

TEST(MachineReader, OverridesNamePlacesAndFigures) {
  auto const with = [](std::string const& entry) { return std::string(kTwoGpus) + "overrides: [" + entry + "]\n"; };
  expect_errors(with("{from: §gpu9, to: gpu1, bandwidth: 1 GB/s, source: s}"),
                {"'from': no GPU, NIC, drive, socket or NUMA node is called 'gpu9'"});
  expect_errors(with("{from: gpu0, to: §rp0, bandwidth: 1 GB/s, source: s}"), {"is called 'rp0'"});
  expect_errors(with("§{from: gpu0, to: gpu1, source: s}"), {"an override gives 'bandwidth', 'latency' or both"});
  expect_errors(with("§{from: gpu0, to: gpu1, bandwidth: 1 GB/s}"), {"the key 'source' is missing"});
  expect_errors(with("{from: gpu0, to: gpu1, bandwidth: §0 GB/s, source: s}"), {"must be more than zero"});
  expect_errors(with("{from: gpu0, to: gpu1, op: §wirte, bandwidth: 1 GB/s, source: s}"), {"did you mean 'write'?"});
}

// ----------------------------------------------------------------------------------------------------------- settings

TEST(MachineReader, SettingsHaveTheirWords) {
  auto const with = [](std::string const& settings) { return "settings: {" + settings + "}\n" + kTwoGpus; };
  expect_errors(with("iommu: §maybe"), {"'maybe' is not an IOMMU mode; allowed: unknown, off, pt, lazy, strict, vfio"});
  expect_errors(with("iommu_page: §4096"), {"has no unit"});
  expect_errors(with("virtualization: §docker"), {"'docker' is not known; allowed: none, passthrough"});
  expect_errors(with("virtualization: {kind: §kvm}"), {"'kvm' is not known"});
  expect_errors(with("virtualization: §[none]"), {"virtualization: expected a mapping, found a list"});
  expect_errors(with("virtualization: {clique: §gpu0}"), {"a clique is a list of GPUs"});
  expect_errors("§settings: {virtualization: {clique: [gpu0, nic7]}}\n" + std::string(kTwoGpus),
                {"the clique names 'nic7', which is not a GPU"});
}

TEST(MachineReader, ABadRangeInACliquePointsThere) {
  expect_errors("settings: {virtualization: {clique: [§gpu1..gpu0]}}\n" + std::string(kTwoGpus),
                {"'gpu1..gpu0' is not a range"});
}

// --------------------------------------------------------------------------------------------------------- everything

TEST(MachineReader, EverythingWrongIsReportedTogether) {
  expect_errors(R"(settings: {iommu: §maybe, §asc: on}
sockets:
  - socket: cpu0
    part: §cpo
    pcie:
      - {root_port: rp0, gpu: gpu0, part: gpu, link: §gen5 x16}
      - {root_port: rp1, gpu: §gpu0, part: gpu}
socket_links: [{between: §[cpu0, cpu1], part: upi}]
nvlinks: [{between: §[gpu0, gpu1], generation: 2, count: 1}]
)",
                {"not an IOMMU mode", "unknown key 'asc'", "no part is called 'cpo'", "more than the part 'gpu'",
                 "already used", "no socket is called 'cpu1'", "no GPU or socket is called 'gpu1'"});
}

TEST(MachineReader, ThePartsFileIsReportedWhereItIsWrong) {
  test::TemporaryFolder const folder;
  (void)folder.with("parts/bad.yaml", "lanewise: part/1\npart: bad\nkind: gpu\nlink: gen9 x16\n");
  Catalogue catalogue({folder.path()});
  auto const source = SourceText::from_memory(
      "m.yaml", "lanewise: machine/1\nmachine: m\nsockets: [{socket: c, pcie: [{root_port: r, gpu: g, part: bad}]}]\n");
  EXPECT_THAT(test::input_error([&] { read_machine(source, catalogue); }), HasSubstr("parts/bad.yaml:4:7: error: "));
}

}  // namespace
}  // namespace lanewise
