#include "core/machine/files/budgets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanewise/machine/machine_file.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A socket with so many GPUs on root ports of their own.
std::string file_with_gpus(int gpus, std::string const& note = "", std::string const& link = "") {
  std::string text = "lanewise: machine/1\nmachine: many\n" + note +
                     "sockets:\n  - socket: cpu0\n    part: epyc-zen4\n    numa: [{node: 0}]\n    pcie:\n";
  for (int i = 0; i < gpus; ++i) {
    auto const number = std::to_string(i);
    text += "      - {root_port: rp" + number + link + ", gpu: gpu" + number + ", part: h100-pcie-80g}\n";
  }
  return text;
}
Machine machine_in(std::string const& text) {
  auto catalogue = test::bundled();
  return catalogue.machine_from(SourceText::from_memory("many.yaml", text));
}
std::string problem_of(std::string const& text) {
  return test::input_error([&] { machine_in(text); });
}

TEST(LaneBudgets, OfACpu) {
  EXPECT_EQ(machine_in(file_with_gpus(8)).all(PciKind::Gpu).size(), 8U);
  EXPECT_THAT(
      problem_of(file_with_gpus(9)),
      AllOf(HasSubstr("many.yaml:3:1"), HasSubstr("cpu0 has 128 PCIe lanes (epyc-zen4), and its links take 144: gpu0 "
                                                  "x16, gpu1 x16")));
  EXPECT_EQ(machine_in(file_with_gpus(16, "", ", link: gen5 x8")).all(PciKind::Gpu).size(), 16U);
  EXPECT_THAT(problem_of(file_with_gpus(17, "", ", link: gen5 x8")), HasSubstr("take 136"));
}

TEST(LaneBudgets, AnInferredTreeIsHeldToItsStatedLinksOnly) {
  std::string const note = "notes: [\"inferred: each GPU has a root port of its own\"]\n";
  EXPECT_EQ(machine_in(file_with_gpus(9, note)).all(PciKind::Gpu).size(), 9U);
  EXPECT_THAT(problem_of(file_with_gpus(9, note, ", link: gen5 x16")), HasSubstr("take 144"));
}

TEST(LaneBudgets, OfASwitchWithItsUplink) {
  auto const with_gpus = [](int gpus) {
    std::string text =
        file_with_gpus(0) + "      - root_port: rp0\n        switch: sw0\n        part: pex89144\n        ports:\n";
    for (int i = 0; i < gpus; ++i) text += "          - {gpu: gpu" + std::to_string(i) + ", part: h100-pcie-80g}\n";
    return text;
  };
  EXPECT_EQ(machine_in(with_gpus(8)).all(PciKind::Gpu).size(), 8U);
  EXPECT_THAT(problem_of(with_gpus(9)),
              HasSubstr("sw0 has 144 PCIe lanes (pex89144), and its links take 160: uplink x16, gpu0 x16"));
}

TEST(LaneBudgets, BundledMachinesCanBeBuilt) {
  auto catalogue = test::bundled();
  for (auto const& name : catalogue.machine_names())
    EXPECT_THAT(exceeded_lanes(catalogue.machine(name)), IsEmpty()) << name;
}

std::string cluster_file(int nodes, std::string const& fabric) {
  return "lanewise: cluster/1\ncluster: many\nnodes: [{machine: hgx-h100, count: " + std::to_string(nodes) +
         "}]\nfabric: " + fabric + "\n";
}

TEST(PortBudgets, OfASingleSwitch) {
  std::string const fabric = "{kind: single_switch, switch: quantum-2-ndr}";
  EXPECT_EQ(machine_in(cluster_file(8, fabric)).hosts.size(), 8U);
  EXPECT_THAT(problem_of(cluster_file(9, fabric)),
              HasSubstr("leaf0 has 64 ports (quantum-2-ndr), and 72 NICs take 72"));
}

TEST(PortBudgets, CountUplinksOfLeaves) {
  auto const fabric = [](int nodes, int uplinks) {
    return "{kind: rail_optimised, switch: quantum-2-ndr, nodes_per_leaf: " + std::to_string(nodes) +
           ", uplinks: " + std::to_string(uplinks) + "}";
  };
  EXPECT_EQ(machine_in(cluster_file(64, fabric(32, 32))).hosts.size(), 64U);
  EXPECT_THAT(problem_of(cluster_file(64, fabric(32, 33))), HasSubstr("take 65"));
  EXPECT_THAT(problem_of(cluster_file(64, fabric(33, 32))), HasSubstr("take 65"));
}

TEST(PortBudgets, SlowNicsShareASplitPort) {
  auto machine = machine_in(cluster_file(8, "{kind: single_switch, switch: quantum-2-ndr}"));
  for (auto const nic : machine.all(PciKind::Nic)) machine.functions[index(nic)].rate = BytesPerSecond(12.5e9);
  EXPECT_THAT(exceeded_ports(machine, *machine.fabric), IsEmpty());
  for (auto& part : machine.parts)
    if (part.hop.ports) part.hop.ports = 15;
  EXPECT_THAT(exceeded_ports(machine, *machine.fabric).front(), HasSubstr("take 16"));
}

}  // namespace
}  // namespace lanewise
