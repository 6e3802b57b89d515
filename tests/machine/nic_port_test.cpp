#include "core/machine/nic_port.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/machine/setting.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"
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

// Four hosts with an adapter each; `multi_host` says which share one.
Machine hosts_with(std::string const& multi_host) {
  auto catalogue = test::bundled();
  return catalogue.machine_from(SourceText::from_memory(
      "pod.yaml", "lanewise: cluster/1\ncluster: pod\nnodes: [{machine: hgx-h100, count: 4}]\nmulti_host: " +
                      multi_host + "\nfabric: {kind: single_switch, nics: [nic0]}\n"));
}
std::string problem_of_hosts(std::string const& multi_host) {
  return test::input_error([&] { (void)hosts_with(multi_host); });
}

TEST(MultiHost, NodesThatShareAnAdapterShareItsPort) {
  Model const model(hosts_with("[{nics: [node0/nic0, node1/nic0]}]"));
  auto const& machine = model.machine();
  auto const nic = [&](std::string const& name) { return machine.find_function(name).value(); };
  EXPECT_EQ(port_owner(machine, nic("node1/nic0")), nic("node0/nic0"));
  EXPECT_EQ(model.resources().wire(nic("node1/nic0")).up, model.resources().wire(nic("node0/nic0")).up);
  EXPECT_NE(model.resources().wire(nic("node2/nic0")).up, model.resources().wire(nic("node0/nic0")).up);
  EXPECT_NE(model.resources().link_above(nic("node1/nic0")).direction.up,
            model.resources().link_above(nic("node0/nic0")).direction.up);
  auto const uses_port = [&](std::string const& from, std::string const& to) {
    auto const ways = possible_ways(machine, {.from = machine.place(from), .to = machine.place(to), .bytes = 1_MiB});
    auto const demand = model.lower(machine.place(from), machine.place(to), 1_MiB, Op::Copy, ways.at(0));
    return std::any_of(demand.uses.begin(), demand.uses.end(),
                       [&](auto const& use) { return use.resource == model.resources().wire(nic("node0/nic0")).up; });
  };
  EXPECT_TRUE(uses_port("node0/numa0", "node2/numa0"));
  EXPECT_TRUE(uses_port("node1/numa0", "node3/numa0"));
  EXPECT_FALSE(uses_port("node2/numa0", "node3/numa0"));
}

TEST(MultiHost, IsOffWithTheAdapter) {
  auto machine = hosts_with("[{nics: [node0/nic0, node1/nic0]}]");
  auto catalogue = test::bundled();
  apply_setting(machine, {"off@node0/nic0", "true"}, catalogue);
  EXPECT_TRUE(machine.is_off(machine.find_function("node1/nic0").value()));
  EXPECT_FALSE(machine.is_off(machine.find_function("node2/nic0").value()));
}

TEST(MultiHost, TheAdapterOutlivesANode) {
  auto machine = hosts_with("[{nics: [node0/nic0, node1/nic0]}]");
  auto catalogue = test::bundled();
  apply_setting(machine, {"off@node0", "true"}, catalogue);
  EXPECT_TRUE(machine.is_off(machine.find_function("node0/nic0").value()));
  EXPECT_FALSE(machine.is_off(machine.find_function("node1/nic0").value()));
}

TEST(MultiHost, ASlowCableIsThatOfThePort) {
  auto machine = hosts_with("[{nics: [node0/nic0, node1/nic0]}]");
  auto catalogue = test::bundled();
  apply_setting(machine, {"rate@node1/nic0", "100 Gb/s"}, catalogue);
  Model const model(machine);
  auto const port = model.resources().wire(machine.find_function("node0/nic0").value());
  EXPECT_LT(model.resources().capacity(port.up).value(), BytesPerSecond(12.5e9));
}

TEST(MultiHost, SaysWhatIsWrong) {
  EXPECT_THAT(problem_of_hosts("[{nics: [node0/nic0]}]"), HasSubstr("two NICs or more"));
  EXPECT_THAT(problem_of_hosts("[{nics: [node0/nic0, node0/nic1]}]"), HasSubstr("is the second NIC of its node"));
  EXPECT_THAT(problem_of_hosts("[{nics: [node0/nic0, node9/nic0]}]"), HasSubstr("no NIC is called 'node9/nic0'"));
  EXPECT_THAT(problem_of_hosts("[{nics: [node0/nic0, node1/nic0]}, {nics: [node2/nic0, node1/nic0]}]"),
              HasSubstr("'node1/nic0' shares a port already"));
}

}  // namespace
}  // namespace lanewise
