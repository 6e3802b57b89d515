#include "core/interop/machines/infragraph/infragraph.hpp"

#include "core/interop/exports/infragraph.hpp"
#include "core/interop/formats/formats.hpp"
#include "core/machine/comparison/machine_comparison.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;
using testing::Not;

Machine read_graph(std::string const& text, TopoOptions const& parts = {}) {
  auto catalogue = bundled();
  auto machine = read_infragraph(SourceText::from_memory("site.yaml", text), parts, catalogue);
  expect_reads_back(machine, catalogue);
  return machine;
}

// A server with two CPUs, a switch below each, two accelerators and a composed NIC below each switch.
std::string server(std::string const& edges) {
  return R"(
name: site
devices:
  - name: cx5
    components:
      - {name: asic, count: 1, choice: custom, custom: {type: asic}}
      - {name: port, count: 2, choice: port, port: {}}
    links: [{name: ic}]
    edges: [{ep1: {component: "asic[0]"}, ep2: {component: "port[0:2]"}, scheme: many2many, link: ic}]
  - name: server
    components:
      - {name: cpu, count: 2, choice: cpu, cpu: {}}
      - {name: xpu, count: 4, choice: xpu, description: "a100-sxm4-40g: NVIDIA A100"}
      - {name: cx5, count: 2, choice: device, device: {}}
      - {name: pcisw, count: 2, choice: switch, switch: {}}
      - {name: nvsw, count: 6, choice: switch, switch: {}}
    links:
      - {name: pcie, description: PCIe gen4 x16}
      - {name: pcie-rate, physical: {bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 32}}}
      - {name: nvl}
    edges:
)" + edges;
}
constexpr auto kEdges = R"(
      - {ep1: {component: "cpu[0:2]"}, ep2: {component: "pcisw[0:2]"}, scheme: one2one, link: pcie}
      - {ep1: {component: "pcisw[0]"}, ep2: {component: "xpu[0:2]"}, scheme: many2many, link: pcie}
      - {ep1: {component: "pcisw[1]"}, ep2: {component: "xpu[2:4]"}, scheme: many2many, link: pcie-rate}
      - {ep1: {component: "pcisw[0:2]"}, ep2: {device: "cx5[0:2]", component: "asic[0]"}, scheme: one2one, link: pcie}
      - {ep1: {component: xpu}, ep2: {component: nvsw}, scheme: many2many, link: nvl}
instances: [{name: host, device: server, count: 4}]
edges: []
)";

TEST(Infragraph, TheTreeFromTheCpusOutwards) {
  auto const machine = read_graph(server(kEdges));
  EXPECT_EQ(machine.name, "server");
  EXPECT_EQ(machine.sockets.size(), 2U);
  EXPECT_EQ(machine.all(PciKind::Switch).size(), 2U);
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 4U);
  EXPECT_EQ(machine.all(PciKind::Nic).size(), 2U);
  EXPECT_EQ(part_of(machine, "gpu3"), "a100-sxm4-40g");
  EXPECT_EQ(parent_of(machine, "gpu1"), "sw0");
  EXPECT_EQ(parent_of(machine, "gpu2"), "sw1");
  EXPECT_EQ(function(machine, "gpu2").link, (PcieLink{4, 16}));
  ASSERT_EQ(machine.nvswitches.size(), 1U);
  EXPECT_EQ(machine.nvswitches[0].ports.size(), 4U);
  EXPECT_EQ(machine.nvswitches[0].ports[0].count, 6);
  EXPECT_THAT(machine.notes, has_note("of which the file has 4"));
}

TEST(Infragraph, ARingJoinsEachWithTheNext) {
  auto const machine = read_graph(server(R"(
      - {ep1: {component: "cpu[0]"}, ep2: {component: xpu}, scheme: many2many, link: pcie}
      - {ep1: {component: xpu}, ep2: {component: xpu}, scheme: ring, link: nvl}
)"));
  EXPECT_EQ(machine.nvlinks.size(), 4U);
}

TEST(Infragraph, GenericPartsStandForWhatNoDescriptionNames) {
  auto const machine = read_graph(server(kEdges));
  EXPECT_EQ(machine.part_of(SocketId(0))->name, "cpu-generic");
  EXPECT_EQ(part_of(machine, "sw0"), "pcie-switch-gen4");  // its link's generation
  EXPECT_EQ(part_of(machine, "nic0"), "nic-generic");
  EXPECT_THAT(machine.notes, has_note("inferred: 'cpu-generic', a generic part with a wide range, stands for the CPUs, "
                                      "whose product the file does not name; --cpu names the exact one"));
  EXPECT_THAT(machine.notes, has_note("'pcie-switch-gen4' stands for the PCIe switches"));
  EXPECT_THAT(machine.notes, has_note("--switch names the exact one"));
  EXPECT_THAT(machine.notes, has_note("--nic names the exact one"));
  EXPECT_THAT(machine.notes, Not(has_note("--gpu")));  // the file names them
  EXPECT_THAT(machine.notes, has_note("'socket-link-generic'"));
}

// How wide the links of devices are that no edge joins, the file does not say: they take no lanes of a named CPU.
TEST(Infragraph, DevicesWithoutLinksTakeNoLanes) {
  auto const machine = read_graph(R"(
name: site
devices:
  - name: server
    components:
      - {name: cpu, count: 1, choice: cpu}
      - {name: xpu, count: 10, choice: xpu, description: "a100-sxm4-40g: NVIDIA A100"}
    links: []
    edges: []
instances: [{name: host, device: server, count: 1}]
)",
                                  {.cpu = "epyc-zen3"});
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 10U);
}

TEST(Infragraph, AnAcceleratorThatTheCatalogueLacksIsGeneric) {
  auto text = server(kEdges);
  text.replace(text.find("a100-sxm4-40g: NVIDIA A100"), 26, "Nvidia B300");
  auto const machine = read_graph(text);
  EXPECT_EQ(part_of(machine, "gpu0"), "gpu-generic");
  EXPECT_EQ(machine.nvswitches.front().ports.size(), 4U);
  EXPECT_THAT(machine.notes, has_note("stands for the accelerators 'Nvidia B300', which are no part of the catalogue; "
                                      "--gpu names the exact one"));
  EXPECT_THAT(machine.notes, has_note("'nvlink-generic', a generic part with a wide range"));
}

TEST(Infragraph, AGenericPartStandsForAcceleratorsOfItsOwnMakerOnly) {
  auto const with = [](std::string const& accelerator) {
    auto text = server(kEdges);
    text.replace(text.find("a100-sxm4-40g: NVIDIA A100"), 26, accelerator);
    return read_graph(text);
  };
  auto const amd = with("AMD MI355X");
  EXPECT_EQ(part_of(amd, "gpu0"), "amd-gpu-generic");
  EXPECT_THAT(amd.notes, has_note("inferred: 'amd-gpu-generic', a generic part with a wide range, stands for the "
                                  "accelerators 'AMD MI355X', which are no part of the catalogue; --gpu names"));
  auto const intel = with("Intel Gaudi 3");
  EXPECT_EQ(part_of(intel, "gpu0"), "unknown");
  EXPECT_THAT(intel.notes, has_note("missing: the accelerators 'Intel Gaudi 3', which are no part of the catalogue; "
                                    "--gpu names it"));
}

TEST(Infragraph, TheUserNamesParts) {
  auto const machine = read_graph(
      server(kEdges), {.gpu = "a100-sxm4-80g", .cpu = "epyc-7742", .nic = "connectx-6-hdr", .pcie_switch = "pex88096"});
  EXPECT_EQ(part_of(machine, "gpu0"), "a100-sxm4-80g");
  EXPECT_EQ(machine.part_of(SocketId(1))->name, "epyc-7742");
  EXPECT_EQ(part_of(machine, "nic1"), "connectx-6-hdr");
  EXPECT_EQ(part_of(machine, "sw1"), "pex88096");
  EXPECT_THAT(machine.notes, Not(has_note("a generic part")));
  auto catalogue = bundled();
  EXPECT_THAT(
      error_of([&] { read_infragraph(SourceText::from_memory("x.yaml", server(kEdges)), {.nic = "a30"}, catalogue); }),
      HasSubstr("the part 'a30' is a gpu, but a nic is needed"));
}

TEST(Infragraph, ALinkFasterThanAGenericPartsIsKept) {
  auto text = server(kEdges);
  text.replace(text.find("PCIe gen4 x16"), 13, "PCIe gen5 x16");
  text.replace(text.find("a100-sxm4-40g: NVIDIA A100"), 26, "Nvidia B300");
  auto const machine = read_graph(text);
  EXPECT_EQ(function(machine, "gpu0").link, (PcieLink{5, 16}));
  EXPECT_EQ(function(machine, "nic0").link, (PcieLink{5, 16}));
  EXPECT_EQ(part_of(machine, "sw0"), "pcie-switch-gen5");
}

TEST(Infragraph, WhatWeWriteReadsBack) {
  auto catalogue = bundled();
  for (auto const* name : {"hgx-h100", "dgx-1-v100", "gh200x4", "rtx6000pro-x16-4root"}) {
    auto const machine = catalogue.machine(name);
    auto const back = read_graph(infragraph_yaml(machine));
    auto comparison = compare_machines(machine, back);
    // The schema has no words for these.
    std::vector<ExpectedDifference> expected{
        {.kind = DifferenceKind::Acs, .reason = "no key"},
        {.kind = DifferenceKind::Iommu, .reason = "no key"},
        {.kind = DifferenceKind::Software, .reason = "no key"},
        {.kind = DifferenceKind::Location, .key = "host_bridge", .reason = "no key"},
        {.kind = DifferenceKind::Numa, .reason = "no key"}};
    expected.push_back({.kind = DifferenceKind::Setting, .reason = "no key", .second_silent = true});
    // A part that stands in the machine's own file is not in the catalogue: a generic one stands for it.
    expected.push_back({.kind = DifferenceKind::Part, .reason = "inline"});
    mark_expected(comparison, expected);
    // A generic part also says what the machine leaves open: the PCIe link of a GPU that has none in use.
    for (auto const& d : comparison.differences)
      EXPECT_FALSE(d.expected.empty() && !(d.kind == DifferenceKind::Link && d.first.empty()))
          << name << ": " << d.subject << " " << d.key << ": " << d.first << " > " << d.second;
  }
}

TEST(Infragraph, AClusterHasInstancesAndCables) {
  auto catalogue = bundled();
  auto const text = infragraph_yaml(catalogue.machine("hgx-h100-2"));
  EXPECT_THAT(text, HasSubstr("{name: node, device: hgx-h100, count: 2}"));
  EXPECT_THAT(text, HasSubstr("node[1]"));
  EXPECT_THAT(text, HasSubstr("leaf[0]"));
  EXPECT_EQ(read_graph(text).all(PciKind::Gpu).size(), 8U);
}

TEST(Infragraph, ErrorsPoint) {
  auto catalogue = bundled();
  auto const error = [&](std::string const& text) {
    return error_of([&] { read_infragraph(SourceText::from_memory("x.yaml", text), {}, catalogue); });
  };
  EXPECT_THAT(error(server("      - {ep1: {component: \"xpu[9]\"}, ep2: {component: cpu}, link: pcie}\n")),
              HasSubstr("there are only 4 of 'xpu'"));
  EXPECT_THAT(error(server("      - {ep1: {component: xpus}, ep2: {component: cpu}, link: pcie}\n")),
              HasSubstr("did you mean 'xpu'?"));
  EXPECT_THAT(error(server("      - {ep1: {component: \"xpu[0:\"}, ep2: {component: cpu}, link: pcie}\n")),
              HasSubstr("no component with a slice"));
  EXPECT_THAT(error("devices:\n  - name: a\n    components: [{name: c, choice: gpu, count: 1}]\n"),
              HasSubstr("allowed: cpu, xpu"));
  EXPECT_THAT(error("device:\n  - {name: a, components: [{name: cpu, type: cpu}]}\n"), HasSubstr("older schema"));
  EXPECT_THAT(error("device:\n  name: a\n  components: [{name: cpu, type: cpu}]\n"), HasSubstr("older schema"));
  EXPECT_THAT(error("devices:\n  - {name: a, components: [], connections: [cpu.0.pcie.x.0]}\n"),
              HasSubstr("older schema"));
  EXPECT_THAT(
      error("devices:\n  - name: a\n    components: [{name: cpu, choice: cpu, count: 3}, {name: cpu, choice: cpu}]\n"
            "    edges: [{ep1: {component: \"cpu[2]\"}, ep2: {component: cpu}, scheme: many2many}]\n"),
      HasSubstr("3:54: error: device 'a' has two components 'cpu'"));
  EXPECT_THAT(error("devices: []\n"), HasSubstr("no device of the file"));
}

TEST(Infragraph, IsRecognised) {
  auto const* format = recognise_format(server(kEdges));
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(format->name, "infragraph");
  // Files of the older schema too, so that it is named.
  for (auto const* text :
       {"device:\n  - name: a\n    components: [{name: hopper, type: xpu}]\n    connections: [grace.0.c2c.hopper.0]\n",
        "devices:\n  - name: a\n    components: [{name: cpu, type: cpu}]\n",
        "infrastructure:\n  instances: [{name: a, device: b}]\n  connections: [a.0.nic.0.eth.b.0.port.0]\n"}) {
    auto const* older = recognise_format(text);
    ASSERT_NE(older, nullptr) << text;
    EXPECT_EQ(older->name, "infragraph") << text;
  }
}

}  // namespace
}  // namespace lanewise
