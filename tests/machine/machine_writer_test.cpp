#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "lanewise/machine/machine_file.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

void expect_round_trip(Machine const& machine, Catalogue& catalogue) {
  auto const text = write_machine(machine);
  EXPECT_EQ(read_machine(SourceText::from_memory("written.yaml", text), catalogue), machine) << text;
  auto const json = machine_tree(machine).dump(2);
  EXPECT_EQ(read_machine(SourceText::from_memory("written.json", json), catalogue), machine) << json;
}

TEST(MachineWriter, EveryBundledMachineReadsBackEqual) {
  auto catalogue = test::bundled();
  ASSERT_FALSE(catalogue.machine_names().empty());
  for (auto const& name : catalogue.machine_names()) {
    SCOPED_TRACE(name);
    auto const machine = catalogue.machine(name);
    EXPECT_EQ(machine.name, name);
    expect_round_trip(machine, catalogue);
  }
}

TEST(MachineWriter, EveryThingAFileCanSayReadsBackEqual) {
  auto const machine = test::machine_of(
      {.settings = "acs: [SV, DT], iommu: strict, iommu_page: 2 MiB, virtualization: {kind: passthrough, hypervisor: "
                   "kvm, approval: true, ats: "
                   "true, cliques: [[gpu0, gpu1], [gpu2, gpu3]]}",
       .software = "cuda: true, fabric_manager: false",
       .at_sw0 = "chip: c0",
       .at_gpu0 = "acs: [RR, CR], mig: true, bdf: '0000:3b:00.0', max: gen4 x16",
       .at_gpu1 = "acs: unknown",
       .at_nic0 = "device_name: mlx5_0, rate: 100 Gb/s, rail: 3",
       .nvlinks = "{between: [gpu0, gpu1], part: nvlink, count: 4}, {between: [gpu2, cpu0], part: nvlink, count: 2}, "
                  "{switch: nv, switch_part: nvswitch, part: nvlink, count: 2, gpus: [gpu0..gpu2]}, "
                  "{switch: nv, switch_part: nvswitch, part: nvlink, count: 1, gpus: [gpu3]}",
       .overrides = "{from: gpu0, to: gpu1, op: write, bandwidth: 24.5 GB/s, latency: 1.2 us, source: 'a: b, \"c\"'}, "
                    "{from: numa0, to: gpu2, bandwidth: 1 GB/s, source: x}"});
  Catalogue none({});
  expect_round_trip(machine, none);
}

TEST(MachineWriter, AwkwardTextsReadBackEqual) {
  auto machine = test::machine_of({});
  machine.title = "8x \"GPU\": #1, {best}";
  machine.notes = {"- dash", "colon: here", "", "yes", "\xC3\xA9", "line\nbreak"};
  Catalogue none({});
  expect_round_trip(machine, none);
}

TEST(MachineWriter, LongCliquesReadBackEqual) {
  auto machine = test::machine_of({});
  auto& cliques = machine.hosts.front().settings.virtualization.cliques;
  cliques.assign(2, std::vector<std::string>(30, "gpu0"));
  Catalogue none({});
  expect_round_trip(machine, none);
}

TEST(MachineWriter, AClusterIsNotAMachineFile) {
  EXPECT_THROW(write_machine(test::cluster_of({}, "kind: direct")), PlanError);
}

}  // namespace
}  // namespace lanewise
