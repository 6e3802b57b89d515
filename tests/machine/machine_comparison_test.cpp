#include "core/machine/comparison/machine_comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/view/machine/difference_text.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Two GPUs with addresses behind a switch; %1 stands for the settings, %2 for the ports of the switch.
std::string machine_text(std::string const& settings, std::string const& ports) {
  return "lanewise: machine/1\nmachine: small\nsettings: {" + settings +
         "}\nsockets:\n  - socket: cpu0\n    part: xeon-ice-lake\n    numa: [{node: 0, cores: \"0-3\"}]\n    pcie:\n"
         "      - root_port: rp0\n        link: gen4 x16\n        switch: sw0\n        part: pex88096\n        "
         "ports:\n" +
         ports;
}
constexpr auto kGpu0 = "          - {gpu: gpu0, part: a100-pcie-80g, link: gen4 x16, bdf: \"0000:3d:00.0\"}\n";
constexpr auto kGpu1 = "          - {gpu: gpu1, part: a100-pcie-80g, link: gen4 x16, bdf: \"0000:3e:00.0\"}\n";
constexpr auto kSettings = "acs: off, iommu: pt";

Machine read(std::string const& text) {
  auto catalogue = test::bundled();
  return catalogue.machine_from(SourceText::from_memory("small.yaml", text));
}
Machine small() { return read(machine_text(kSettings, std::string(kGpu0) + kGpu1)); }

// "link of gpu1: gen4 x16 > gen4 x8"
std::vector<std::string> texts(MachineComparison const& comparison) {
  std::vector<std::string> lines;
  for (auto const& d : comparison.differences)
    lines.push_back(std::string(to_string(d.kind)) + " " + d.subject + " " + d.key + ": " + d.first + " > " + d.second);
  return lines;
}

TEST(MachineComparison, EveryBundledMachineEqualsItself) {
  auto catalogue = test::bundled();
  for (auto const* name : {"hgx-h100", "dgx-1-v100", "gh200x4", "rtx6000pro-x16-4root", "hgx-h100-32"}) {
    auto const machine = catalogue.machine(name);
    auto const comparison = compare_machines(machine, machine);
    EXPECT_THAT(texts(comparison), testing::IsEmpty()) << name;
    EXPECT_EQ(comparison.result(), ComparisonResult::Equal) << name;
    EXPECT_EQ(difference_text(comparison), "equal\n");
  }
}

TEST(MachineComparison, FirmwareIsComparedWhereBothSayIt) {
  auto const with = [](std::string const& bios, std::string const& vbios) {
    return read(machine_text(std::string(kSettings) + ", firmware: \"" + bios + "\"",
                             "          - {gpu: gpu0, part: a100-pcie-80g, link: gen4 x16, bdf: \"0000:3d:00.0\", "
                             "firmware: \"" +
                                 vbios + "\"}\n" + kGpu1));
  };
  EXPECT_THAT(texts(compare_machines(with("Dell Inc. 2.1.5", "92.00.45.00.05"), with("Dell Inc. 2.1.6", "92.00.9E"))),
              ElementsAre("firmware gpu0 firmware: 92.00.45.00.05 > 92.00.9E",
                          "firmware settings firmware: Dell Inc. 2.1.5 > Dell Inc. 2.1.6"));
  EXPECT_THAT(texts(compare_machines(with("Dell Inc. 2.1.5", "92.00.45.00.05"), small())), testing::IsEmpty());
}

TEST(MachineComparison, GpusAreMatchedByAddressWhateverTheirNames) {
  auto const swapped = read(machine_text(
      kSettings,
      "          - {gpu: gpu0, part: a100-pcie-80g, link: gen4 x16, bdf: \"0000:3e:00.0\"}\n"
      "          - {gpu: gpu1, part: a100-pcie-80g, link: gen4 x8, max: gen4 x16, bdf: \"0000:3d:00.0\"}\n"));
  auto const comparison = compare_machines(small(), swapped);
  EXPECT_THAT(texts(comparison), ElementsAre("link gpu0 link: gen4 x16 > gen4 x8"));
  EXPECT_THAT(comparison.renamed, ElementsAre(Renaming{"gpu0", "gpu1"}, Renaming{"gpu1", "gpu0"}));
}

TEST(MachineComparison, RenamedAndReorderedIsEqualButForNames) {
  auto const other =
      read(machine_text(kSettings,
                        "          - {gpu: gpu7, part: a100-pcie-80g, link: gen4 x16, bdf: \"0000:3e:00.0\"}\n"
                        "          - {gpu: gpu4, part: a100-pcie-80g, link: gen4 x16, bdf: \"0000:3d:00.0\"}\n"));
  auto const comparison = compare_machines(small(), other);
  EXPECT_EQ(comparison.result(), ComparisonResult::EqualButForNames);
  EXPECT_TRUE(comparison.reordered);
  EXPECT_EQ(difference_text(comparison),
            "equal but for names: gpu0 is called gpu4, gpu1 is called gpu7; the order differs\n");
}

TEST(MachineComparison, SettingsArePutWhereTheyAct) {
  auto const other = read(machine_text(
      "acs: unknown, iommu: lazy",
      "          - {gpu: gpu0, part: a100-pcie-80g, link: gen4 x16, acs: off, bdf: \"0000:3d:00.0\"}\n"
      "          - {gpu: gpu1, part: a100-pcie-80g, link: gen4 x16, acs: \"RR,CR\", bdf: \"0000:3e:00.0\"}\n"));
  EXPECT_THAT(texts(compare_machines(small(), other)),
              ElementsAre("acs sw0 acs: off > ", "acs gpu1 acs: off > RR,CR", "iommu settings iommu: pt > lazy"));
}

TEST(MachineComparison, AnAbsentLinkIsWhatTheEndsNegotiate) {
  auto const unsaid =
      read(machine_text(kSettings, "          - {gpu: gpu0, part: a100-pcie-80g}\n" + std::string(kGpu1)));
  EXPECT_EQ(compare_machines(small(), unsaid).result(), ComparisonResult::Equal);
}

TEST(MachineComparison, DevicesThatOneLacksAndOtherParts) {
  auto const one = read(machine_text(kSettings, kGpu0));
  EXPECT_THAT(texts(compare_machines(small(), one)),
              ElementsAre("device gpu1 gpu: a100-pcie-80g at 0000:3e:00.0 > absent"));
  EXPECT_THAT(texts(compare_machines(one, small())),
              ElementsAre("device gpu1 gpu: absent > a100-pcie-80g at 0000:3e:00.0"));
  auto const other = read(machine_text(
      kSettings, "          - {gpu: gpu0, part: a30, link: gen4 x16, bdf: \"0000:3d:00.0\"}\n" + std::string(kGpu1)));
  EXPECT_THAT(texts(compare_machines(small(), other)), ElementsAre("part gpu0 part: a100-pcie-80g > a30"));
}

TEST(MachineComparison, NvlinksByTheirEnds) {
  auto catalogue = test::bundled();
  auto const machine = catalogue.machine("hgx-h100");
  auto other = machine;
  other.nvswitches.front().ports[2].count = 17;
  EXPECT_THAT(texts(compare_machines(machine, other)), ElementsAre("nvlink gpu2 - NVSwitch count: 18 > 17"));
}

TEST(MachineComparison, ClustersSayWhichNodes) {
  auto catalogue = test::bundled();
  auto const cluster = catalogue.machine("hgx-h100-2");
  auto other = cluster;
  auto const id = other.find_function("node1/nic3").value();
  other.functions[index(id)].link = PcieLink{5, 8};
  other.functions[index(id)].max_link = PcieLink{5, 16};
  auto const comparison = compare_machines(cluster, other);
  ASSERT_THAT(texts(comparison), ElementsAre("link nic3 link: gen5 x16 > gen5 x8"));
  EXPECT_THAT(comparison.differences.front().nodes, ElementsAre("node1"));
}

TEST(MachineComparison, TheFabricByNics) {
  auto catalogue = test::bundled();
  auto const cluster = catalogue.machine("hgx-h100-2");
  auto other = cluster;
  other.fabric->networks.front().kind = "single_switch";
  other.fabric->attachments[3].rate = BytesPerSecond(25e9);
  auto const lines = texts(compare_machines(cluster, other));
  ASSERT_EQ(lines.size(), cluster.fabric->networks.front().kind == "single_switch" ? 1U : 2U);
  EXPECT_THAT(lines.back(), HasSubstr("fabric node0/nic3 attachment: "));
}

TEST(MachineComparison, ExpectedDifferencesDoNotCount) {
  auto const other = read(machine_text("acs: unknown, iommu: lazy", std::string(kGpu0) + kGpu1));
  auto comparison = compare_machines(small(), other);
  EXPECT_EQ(comparison.unexpected(), 4U);  // ACS of the switch and of two GPUs, and the IOMMU
  std::vector<ExpectedDifference> const acs{
      {.kind = DifferenceKind::Acs, .reason = "config space is hidden", .second_silent = true}};
  mark_expected(comparison, acs);
  EXPECT_EQ(comparison.unexpected(), 1U);
  EXPECT_EQ(comparison.result(), ComparisonResult::Different);
  EXPECT_THAT(difference_text(comparison), HasSubstr("different: 1 difference, 3 differences expected\n"));
  std::vector<ExpectedDifference> const iommu{{.kind = DifferenceKind::Iommu, .key = "iommu", .reason = "QEMU's own"}};
  mark_expected(comparison, iommu);
  EXPECT_EQ(comparison.result(), ComparisonResult::Equal);
}

TEST(MachineComparison, KindsHaveNames) {
  for (auto const& name : difference_kind_names())
    EXPECT_EQ(to_string(parse_difference_kind(name).value.value()), name);
  EXPECT_THAT(parse_difference_kind("nvlinks").problem, HasSubstr("did you mean 'nvlink'?"));
}

}  // namespace
}  // namespace lanewise
