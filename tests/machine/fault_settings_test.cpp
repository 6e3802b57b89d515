#include "core/machine/fault_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "lanewise/machine/fingerprint.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

Machine with(std::string const& name, std::string const& setting) {
  auto catalogue = test::bundled();
  auto machine = catalogue.machine(name);
  apply_setting(machine, parse_setting(setting), catalogue);
  return machine;
}
std::string refusal_of(std::string const& name, std::string const& setting) {
  return test::input_error([&] { with(name, setting); });
}
bool is_off(Machine const& machine, std::string_view place) { return machine.is_off(machine.place(place)); }
int links_of(Machine const& machine, std::string_view gpu) {
  for (auto const& domain : machine.nvswitches)
    for (auto const& port : domain.ports)
      if (machine.at(port.gpu).name == gpu) return port.count;
  return 0;
}

TEST(FaultSettings, ADeviceIsOffWithAllBelowIt) {
  auto const machine = with("hgx-h100", "off@sw1");
  for (auto const* name : {"gpu2", "gpu3", "nic2", "nic3", "nvme1"}) EXPECT_TRUE(is_off(machine, name)) << name;
  for (auto const* name : {"gpu1", "gpu4", "nic1", "numa0"}) EXPECT_FALSE(is_off(machine, name)) << name;
  EXPECT_EQ(with("hgx-h100", "off@sw1=false"), with("hgx-h100", "mig@gpu0=false"));
}

TEST(FaultSettings, ANodeIsOffWithItsMemory) {
  auto const machine = with("hgx-h100-32", "off@node7");
  for (auto const* name : {"node7/gpu2", "node7/numa1", "node7/nic0"}) EXPECT_TRUE(is_off(machine, name)) << name;
  for (auto const* name : {"node6/gpu2", "node8/numa1"}) EXPECT_FALSE(is_off(machine, name)) << name;
}

TEST(FaultSettings, ALeafIsOffWithItsCables) {
  auto const whole = with("hgx-h100-32", "acs=off");
  auto const machine = with("hgx-h100-32", "off@leaf0.rail3");
  EXPECT_EQ(machine.fabric->attachments.size() + 32, whole.fabric->attachments.size());
  EXPECT_TRUE(machine.fabric->attachments_of(*machine.find_function("node5/nic3")).empty());
  EXPECT_FALSE(machine.fabric->attachments_of(*machine.find_function("node5/nic2")).empty());
}

TEST(FaultSettings, FewerLinks) {
  EXPECT_EQ(links_of(with("hgx-h100", "count@nvlink.gpu3=17"), "gpu3"), 17);
  EXPECT_EQ(links_of(with("hgx-h100", "count@nvlink.gpu3=17"), "gpu2"), 18);
  EXPECT_EQ(links_of(with("hgx-h100", "off@nvlink.gpu3"), "gpu3"), 0);
  EXPECT_THAT(with("hgx-h100", "off@nvswitch").nvswitches, SizeIs(0));
  auto const whole = with("dgx-1-v100", "acs=off");
  EXPECT_THAT(with("dgx-1-v100", "off@nvlink.gpu3-gpu0").nvlinks, SizeIs(whole.nvlinks.size() - 1));
  EXPECT_EQ(with("dgx-1-v100", "count@socket.cpu0-cpu1=1").socket_links.front().count, 1);
  EXPECT_THAT(with("dgx-1-v100", "off@socket.cpu1-cpu0").socket_links, SizeIs(0));
}

TEST(FaultSettings, SlowCablesAndFewerUplinks) {
  auto const slow = with("hgx-h100-32", "rate@node0/nic2=100 Gb/s");
  EXPECT_EQ(slow.fabric->attachments_of(*slow.find_function("node0/nic2")).front().rate, BytesPerSecond(12.5e9));
  auto const machine = with("hgx-h100-32", "uplinks@leaf0.rail1=16");
  auto const whole = with("hgx-h100-32", "acs=off");
  ASSERT_EQ(machine.fabric->switches[1].name, "leaf0.rail1");
  EXPECT_EQ(machine.fabric->uplink(1), BytesPerSecond(16 * 50e9));
  EXPECT_EQ(machine.fabric->uplink(0), whole.fabric->uplink(0));
  auto const fewer = with("hgx-h100-32", "uplinks=8");
  for (std::uint32_t leaf = 0; leaf < 8; ++leaf) EXPECT_EQ(fewer.fabric->uplink(leaf), BytesPerSecond(8 * 50e9));
}

TEST(FaultSettings, CablesAndSwitchesOfTheNetwork) {
  auto const whole = with("hgx-h100-32", "acs=off");
  auto const cables = with("hgx-h100-32", "count@cables.leaf0.rail1-spine=8");
  EXPECT_EQ(cables.fabric->uplink(1), BytesPerSecond(8 * 50e9));
  EXPECT_EQ(cables.fabric->uplink(0), whole.fabric->uplink(0));
  EXPECT_FALSE(with("hgx-h100-32", "off@cables.leaf0.rail1-spine").fabric->uplink(1));
  auto const leaf = with("hgx-h100-32", "off@leaf0.rail1");
  EXPECT_EQ(leaf.fabric->attachments.size(), whole.fabric->attachments.size() - 32);
  auto const spine = with("hgx-h100-32", "off@spine");
  for (std::uint32_t at = 0; at < 8; ++at) EXPECT_FALSE(spine.fabric->uplink(at));
}

TEST(FaultSettings, PatternsStandForNames) {
  auto const nics = with("hgx-h100", "off@nic?");
  for (auto const nic : nics.all(PciKind::Nic)) EXPECT_TRUE(nics.is_off(nic));
  for (auto const gpu : nics.all(PciKind::Gpu)) EXPECT_FALSE(nics.is_off(gpu));
  auto const nodes = with("hgx-h100-32", "off@node1*");  // node1, node10 to node19, and no device in them
  EXPECT_EQ(std::count_if(nodes.hosts.begin(), nodes.hosts.end(), [](Host const& host) { return host.off; }), 11);
  EXPECT_FALSE(is_off(nodes, "node2/gpu0"));
  auto const gpus = with("hgx-h100-32", "off@node?/gpu0");
  EXPECT_TRUE(is_off(gpus, "node9/gpu0"));
  EXPECT_FALSE(is_off(gpus, "node10/gpu0"));
  auto const links = with("hgx-h100", "count@nvlink.*=9");
  for (auto const& port : links.nvswitches.front().ports) EXPECT_EQ(port.count, 9);
  auto const parts = with("a100x8-pcie-4sw", "part@gpu*=h100-pcie-80g");
  for (auto const gpu : parts.all(PciKind::Gpu)) EXPECT_EQ(parts.part_of(gpu)->name, "h100-pcie-80g");
}

TEST(FaultSettings, NamesAreThoseThatCanFail) {
  EXPECT_THAT(fault_names(with("hgx-h100", "acs=off")),
              IsSupersetOf({"gpu0", "nic3", "sw1", "nvswitch", "nvlink.gpu7", "socket.cpu0-cpu1"}));
  EXPECT_THAT(fault_names(with("hgx-h100-32", "acs=off")),
              IsSupersetOf({"node31", "node2/gpu3", "leaf0.rail7", "nvlink.node4/gpu0"}));
}

TEST(FaultSettings, EachChangesTheFingerprint) {
  auto const whole = fingerprint(with("hgx-h100-32", "acs=off"));
  for (auto const* setting : {"off@node0/gpu0", "off@node7", "off@leaf0.rail3", "count@nvlink.node0/gpu3=17",
                              "rate@node0/nic2=100 Gb/s", "uplinks=8"})
    EXPECT_NE(fingerprint(with("hgx-h100-32", setting)), whole) << setting;
}

TEST(FaultSettings, RefusesWhatIsNotThere) {
  EXPECT_THAT(refusal_of("hgx-h100", "off@nvlink.gpux"), HasSubstr("did you mean 'nvlink.gpu"));
  EXPECT_THAT(refusal_of("hgx-h100", "off@gpu9"), HasSubstr("no device, node, switch or link is called 'gpu9'"));
  EXPECT_THAT(refusal_of("hgx-h100", "off@gpu1=maybe"), HasSubstr("a flag is true or false"));
  EXPECT_THAT(refusal_of("hgx-h100", "off@nvswitch=false"), HasSubstr("only a device can be switched on again"));
  EXPECT_THAT(refusal_of("hgx-h100", "count@nvlink.gpu3=19"), HasSubstr("write a whole number from 0 to 18"));
  EXPECT_THAT(refusal_of("hgx-h100", "count@gpu3=1"),
              HasSubstr("no NVLink, socket link, cables or group of switches is called 'gpu3'"));
  EXPECT_THAT(refusal_of("hgx-h100", "rate@gpu3=1 GB/s"), HasSubstr("no NIC is called 'gpu3'"));
  EXPECT_THAT(refusal_of("hgx-h100", "uplinks=3"), HasSubstr("uplinks belong to a cluster"));
  EXPECT_THAT(refusal_of("hgx-h100-32", "uplinks@leaf9=3"), HasSubstr("no leaf switch is called 'leaf9'"));
  EXPECT_THAT(refusal_of("hgx-h100", "off@tpu*"), HasSubstr("nothing here has a name like 'tpu*'"));
  EXPECT_THAT(refusal_of("hgx-h100", "part@gpu0=b200-sxm-180g"),
              HasSubstr("has NVLink 5, but the links of gpu0 here are NVLink 4"));
}

}  // namespace
}  // namespace lanewise
