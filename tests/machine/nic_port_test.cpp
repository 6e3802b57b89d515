#include "core/machine/nic_port.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::HasSubstr;

// A Grace with one GPU over C2C. The adapter's first function is on the CPU's tree; its Data Direct function is below
// the adapter's PCIe switch, as the GPU is.
std::string station(std::string const& second) {
  return R"(lanewise: machine/1
machine: station
settings: {acs: off, iommu: pt, virtualization: none}
sockets:
  - socket: cpu0
    part: grace
    pcie:
      - {root_port: rp0, link: gen5 x16, nic: nic0, part: connectx-7-ndr}
      - root_port: rp1
        link: gen5 x16
        switch: sw0
        part: pcie-switch-gen5
        ports:
          - {link: gen5 x16, gpu: gpu0, part: gb300-288g})" +
         second + R"(
nvlinks: [{between: [gpu0, cpu0], part: nvlink-c2c, count: 1}]
software: {cuda: true, dma_buf: true}
)";
}
constexpr auto kDataDirect = "\n          - {link: gen5 x16, nic: nic1, part: connectx-7-ndr, port_of: nic0}";

Machine two_stations(std::string const& second) {
  test::TemporaryFolder const folder;
  (void)folder.with("station.yaml", station(second));
  auto catalogue = test::bundled();
  return catalogue.machine_from(SourceText::from_memory(
      (folder.path() / "two.yaml").string(),
      "lanewise: cluster/1\ncluster: two\nnodes: [{machine: station.yaml, count: 2}]\nfabric: {kind: direct}\n"));
}

Way way_between_gpus(Model const& model) {
  auto const& machine = model.machine();
  auto const choice =
      Planner(model).choose({.from = machine.place("node0/gpu0"), .to = machine.place("node1/gpu0"), .bytes = 64_MiB});
  return choice.evaluated.at(choice.chosen.value()).way;
}

TEST(NicPort, ASecondFunctionSendsThroughThePortOfTheFirst) {
  Model const model(two_stations(kDataDirect));
  auto const first = *model.machine().find_function("node1/nic0");
  auto const second = *model.machine().find_function("node1/nic1");
  EXPECT_EQ(port_owner(model.machine(), second), first);
  EXPECT_EQ(port_owner(model.machine(), first), first);
  EXPECT_EQ(model.resources().wire(second).up, model.resources().wire(first).up);
  ASSERT_FALSE(model.machine().fabric->attachments_of(second).empty());
  EXPECT_EQ(model.machine().at(second).rail, model.machine().at(first).rail);
}

TEST(NicPort, TheFunctionBelowTheGpusSwitchIsChosen) {
  Model const direct(two_stations(kDataDirect));
  auto const way = way_between_gpus(direct);
  EXPECT_EQ(way.mechanism, Mechanism::Gdr);
  EXPECT_EQ(direct.machine().at(*way.nic_from).name, "node0/nic1");
  EXPECT_EQ(direct.machine().at(*way.nic_to).name, "node1/nic1");
  auto const& machine = direct.machine();
  auto const demand = direct.lower(machine.place("node0/gpu0"), machine.place("node1/gpu0"), 64_MiB, Op::Copy, way);
  EXPECT_THAT(direct.text_of(demand.route), HasSubstr("node0/gpu0 > node0/sw0 > node0/nic1"));

  Model const through_cpu(two_stations(""));
  auto const other = way_between_gpus(through_cpu);
  EXPECT_EQ(through_cpu.machine().at(*other.nic_from).name, "node0/nic0");
}

TEST(NicPort, WithoutThePortThereIsNoSecondFunction) {
  auto machine = two_stations(kDataDirect);
  machine.functions[index(*machine.find_function("node0/nic0"))].off = true;
  EXPECT_TRUE(machine.is_off(*machine.find_function("node0/nic1")));
  EXPECT_FALSE(machine.is_off(*machine.find_function("node1/nic1")));
}

TEST(NicPort, TheOwnerMustBeANicWithAPort) {
  auto const problem_of = [](std::string const& owner) -> std::string {
    auto catalogue = test::bundled();
    try {
      catalogue.machine_from(SourceText::from_memory(
          "station.yaml", station("\n          - {nic: nic1, part: connectx-7-ndr, port_of: " + owner + "}")));
    } catch (InputError const& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(problem_of("nic0"), "none");
  EXPECT_THAT(problem_of("nic9"),
              HasSubstr("'nic1' shares the port of 'nic9', which is no NIC with a port of its own"));
  EXPECT_THAT(problem_of("nic1"), HasSubstr("which is no NIC with a port of its own"));
  EXPECT_THAT(problem_of("gpu0"), HasSubstr("which is no NIC with a port of its own"));
}

}  // namespace
}  // namespace lanewise
