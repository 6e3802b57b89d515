#include "core/interop/machines/infragraph/infragraph.hpp"

#include "core/interop/exports/infragraph.hpp"
#include "core/interop/formats/formats.hpp"
#include "core/machine/comparison/machine_comparison.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;

Machine read(std::string const& text) {
  auto catalogue = bundled();
  auto machine = read_infragraph(SourceText::from_memory("site.yaml", text), {}, catalogue);
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
  auto const machine = read(server(kEdges));
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
  auto const machine = read(server(R"(
      - {ep1: {component: "cpu[0]"}, ep2: {component: xpu}, scheme: many2many, link: pcie}
      - {ep1: {component: xpu}, ep2: {component: xpu}, scheme: ring, link: nvl}
)"));
  EXPECT_EQ(machine.nvlinks.size(), 4U);
}

TEST(Infragraph, WhatWeWriteReadsBack) {
  auto catalogue = bundled();
  for (auto const* name : {"hgx-h100", "dgx-1-v100", "gh200x4", "rtx6000pro-x16-4root"}) {
    auto const machine = catalogue.machine(name);
    auto const back = read(infragraph_yaml(machine));
    auto comparison = compare_machines(machine, back);
    // The schema has no words for these.
    std::vector<ExpectedDifference> expected{
        {.kind = DifferenceKind::Acs, .reason = "no key"},
        {.kind = DifferenceKind::Iommu, .reason = "no key"},
        {.kind = DifferenceKind::Software, .reason = "no key"},
        {.kind = DifferenceKind::Location, .key = "host_bridge", .reason = "no key"},
        {.kind = DifferenceKind::Numa, .reason = "no key"}};
    expected.push_back({.kind = DifferenceKind::Setting, .reason = "no key", .second_silent = true});
    // A part that stands in the machine's own file is not in the catalogue.
    expected.push_back({.kind = DifferenceKind::Part, .reason = "inline", .second_silent = true});
    mark_expected(comparison, expected);
    for (auto const& d : comparison.differences)
      EXPECT_FALSE(d.expected.empty()) << name << ": " << d.subject << " " << d.key << ": " << d.first << " > "
                                       << d.second;
  }
}

TEST(Infragraph, AClusterHasInstancesAndCables) {
  auto catalogue = bundled();
  auto const text = infragraph_yaml(catalogue.machine("hgx-h100-2"));
  EXPECT_THAT(text, HasSubstr("{name: node, device: hgx-h100, count: 2}"));
  EXPECT_THAT(text, HasSubstr("node[1]"));
  EXPECT_THAT(text, HasSubstr("leaf[0]"));
  EXPECT_EQ(read(text).all(PciKind::Gpu).size(), 8U);
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
}

}  // namespace
}  // namespace lanewise
