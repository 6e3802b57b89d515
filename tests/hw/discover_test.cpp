// From a system's files to a machine: systems are written by the tests, no driver is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/machine/path_class.hpp"
#include "hw/discover/discovery.hpp"
#include "tests/hw/fake_system.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise::hw {
namespace {

using test::a100;
using test::bridge;
using test::endpoint;
using test::FakeSystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Discovery discovered(FakeSystem const& system, std::optional<std::vector<Role>> roles = std::nullopt) {
  auto catalogue = bundled();
  DiscoverOptions options;
  options.name = "fake";
  options.sysfs = system.sys();
  if (roles) options.roles = RolesFile{std::move(*roles), {}, {}, {}};
  auto found = discover(options, catalogue);
  expect_reads_back(found.machine, catalogue);
  return found;
}
Machine machine_in(FakeSystem const& system, std::optional<std::vector<Role>> roles = std::nullopt) {
  return discovered(system, std::move(roles)).machine;
}
PathClass between(Machine const& machine, std::string const& a, std::string const& b) {
  return path_class(machine, id_of(machine, a), id_of(machine, b));
}

TEST(Discover, TwoSocketsWithASwitch) {
  FakeSystem const system;
  test::fill_two_sockets(system);
  auto const machine = machine_in(system);
  EXPECT_THAT(machine.sockets, SizeIs(2));
  EXPECT_EQ(machine.at(*machine.sockets[0].part).name, "xeon-platinum-8380");
  EXPECT_EQ(machine.at(NumaId{1}).cores, "4-7");
  EXPECT_EQ(parent_of(machine, "gpu0"), "sw0");
  EXPECT_EQ(parent_of(machine, "sw0"), "rp0");
  EXPECT_EQ(parent_of(machine, "gpu2"), "rp1");
  EXPECT_EQ(part_of(machine, "sw0"), "pex88096");
  EXPECT_EQ(part_of(machine, "gpu0"), "a100-pcie-80g");
  EXPECT_EQ(function(machine, "gpu1").bdf, "0000:3e:00.0");
  EXPECT_EQ(function(machine, "gpu0").link, (PcieLink{4, 16}));
  EXPECT_EQ(between(machine, "gpu0", "gpu1"), PathClass::Pix);
  EXPECT_EQ(between(machine, "gpu0", "gpu2"), PathClass::Sys);
  EXPECT_EQ(function(machine, "nic0").device_name, "mlx5_0");
  EXPECT_EQ(function(machine, "nic0").rate, BytesPerSecond(12.5e9));
  EXPECT_EQ(machine.hosts[0].settings.iommu, IommuMode::Off);
  EXPECT_FALSE(machine.hosts[0].settings.virtualization.passthrough);
}

TEST(Discover, AcsIsWhatMostPortsHaveAndOthersSayTheirs) {
  FakeSystem const system;
  test::fill_two_sockets(system);
  auto const machine = machine_in(system);
  EXPECT_EQ(machine.hosts[0].settings.acs, AcsControl::off());
  EXPECT_EQ(function(machine, "gpu0").acs, AcsControl::on());
  EXPECT_FALSE(function(machine, "gpu1").acs);
}

TEST(Discover, ConfigSpaceOf64BytesLeavesAcsUnknownAndTheTreeAsItIs) {
  FakeSystem const system;
  system.cpuinfo("GenuineIntel", 6, 106, "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz");
  system.numa(0, 0, 1, 0);
  auto cut = bridge(test::kRootPort);
  cut.config.resize(64);
  system.add("pci0000:00/0000:00:01.0", cut);
  system.add("pci0000:00/0000:00:01.0/0000:01:00.0", cut);
  system.add("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0", cut);
  system.add("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0", a100());
  system.add("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0", cut);
  system.add("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:04:00.0", a100());
  auto const machine = machine_in(system);
  EXPECT_EQ(machine.hosts[0].settings.acs, AcsControl::unknown());
  EXPECT_EQ(machine.acs_above(id_of(machine, "gpu0")), AcsControl::unknown());
  EXPECT_THAT(machine.notes, has_note("ACS control of 3 ports could not be read"));
  EXPECT_EQ(between(machine, "gpu0", "gpu1"), PathClass::Pix) << "ports are told by their place in the tree";
}

TEST(Discover, OnePortThatCouldNotBeReadStaysUnknownAmongOthers) {
  FakeSystem const system;
  system.numa(0, 0, 1, 0);
  auto cut = bridge(test::kRootPort);
  cut.config.resize(64);
  system.add("pci0000:00/0000:00:01.0", bridge(test::kRootPort));
  system.add("pci0000:00/0000:00:01.0/0000:01:00.0", a100());
  system.add("pci0000:00/0000:00:02.0", cut);
  system.add("pci0000:00/0000:00:02.0/0000:02:00.0", a100());
  auto const machine = machine_in(system);
  EXPECT_EQ(machine.acs_above(id_of(machine, "gpu0")), AcsControl::off());
  EXPECT_EQ(machine.acs_above(id_of(machine, "gpu1")), AcsControl::unknown());
}

TEST(Discover, ALinkBelowWhatBothEndsCanDoIsAFinding) {
  FakeSystem const system;
  system.numa(0, 0, 1, 0);
  system.add("pci0000:00/0000:00:01.0", bridge(test::kRootPort));
  auto gpu = a100();
  gpu.width = "8";
  system.add("pci0000:00/0000:00:01.0/0000:01:00.0", gpu);
  auto const found = discovered(system);
  EXPECT_EQ(function(found.machine, "gpu0").link, (PcieLink{4, 8}));
  EXPECT_EQ(function(found.machine, "gpu0").max_link, (PcieLink{4, 16}));
  ASSERT_THAT(found.findings, SizeIs(1));
  EXPECT_EQ(found.findings[0].kind, FindingKind::SlowLink);
  EXPECT_THAT(found.findings[0].subjects, testing::ElementsAre("gpu0"));
  EXPECT_EQ(found.findings[0].text, "its PCIe link runs at gen4 x8, both its ends can do gen4 x16");
}

TEST(Discover, AFastCardInASlowSlotIsNoFinding) {
  FakeSystem const system;
  system.numa(0, 0, 1, 0);
  auto port = bridge(test::kRootPort);
  port.max_speed = port.speed = "8.0 GT/s PCIe";
  system.add("pci0000:00/0000:00:01.0", port);
  auto gpu = a100();
  gpu.speed = "8.0 GT/s PCIe";
  system.add("pci0000:00/0000:00:01.0/0000:01:00.0", gpu);
  auto const found = discovered(system);
  EXPECT_THAT(found.findings, IsEmpty());
  EXPECT_EQ(function(found.machine, "gpu0").link, (PcieLink{3, 16}));
}

TEST(Discover, VirtualFunctionsAndOtherDevicesAreLeftOut) {
  FakeSystem const system;
  system.numa(0, 0, 1, 0);
  system.add("pci0000:00/0000:00:01.0", bridge(test::kRootPort));
  system.add("pci0000:00/0000:00:01.0/0000:01:00.0", endpoint("0x020700", "15b3:101b"));
  auto virtual_function = endpoint("0x020700", "15b3:101c");
  virtual_function.physical = "0000:01:00.0";
  system.add("pci0000:00/0000:00:01.0/0000:01:00.1", virtual_function);
  system.add("pci0000:00/0000:00:02.0", bridge(test::kRootPort));
  system.add("pci0000:00/0000:00:02.0/0000:02:00.0", endpoint("0x030000", "1a03:2000"));  // a management chip
  system.add("pci0000:00/0000:00:1f.0", endpoint("0x060100", "8086:a1c3"));
  auto const machine = machine_in(system);
  EXPECT_THAT(machine.functions, SizeIs(2)) << write_machine(machine);
  EXPECT_THAT(machine.notes, has_note("1 virtual functions of SR-IOV are left out"));
}

TEST(Discover, BothPortsOfAnAdapterAreOneNic) {
  FakeSystem const system;
  system.numa(0, 0, 1, 0);
  std::string const port = "pci0000:00/0000:00:01.0/";
  system.add("pci0000:00/0000:00:01.0", bridge(test::kRootPort));
  for (auto const* bdf : {"0000:01:00.0", "0000:01:00.1"}) system.add(port + bdf, endpoint("0x020000", "15b3:101d"));
  system.rdma("mlx5_0", port + "0000:01:00.0", "25 Gb/sec (1X EDR)");
  system.rdma("mlx5_1", port + "0000:01:00.1", "25 Gb/sec (1X EDR)");
  auto const machine = machine_in(system);
  EXPECT_THAT(machine.all(PciKind::Nic), SizeIs(1));
  EXPECT_EQ(function(machine, "nic0").device_name, "mlx5_0");
  EXPECT_EQ(function(machine, "nic0").rate, BytesPerSecond(6.25e9));
  EXPECT_THAT(machine.notes, has_note("nic0 stands for all its ports, with the sum of their rates: mlx5_0, mlx5_1"));
}

TEST(Discover, VersionsOfFirmwareAreKept) {
  FakeSystem const system;
  system.numa(0, 0, 1, 0);
  std::string const port = "pci0000:00/0000:00:01.0/";
  system.add("pci0000:00/0000:00:01.0", bridge(test::kRootPort));
  system.add(port + "0000:01:00.0", endpoint("0x020000", "15b3:101d"));
  system.rdma("mlx5_0", port + "0000:01:00.0", "25 Gb/sec (1X EDR)");
  system.write("sys/devices/" + port + "0000:01:00.0/infiniband/mlx5_0/fw_ver", "22.35.1012");
  system.add("pci0000:00/0000:00:02.0", bridge(test::kRootPort));
  system.add("pci0000:00/0000:00:02.0/0000:02:00.0", endpoint("0x010802", "144d:a808"));
  system.write("sys/devices/pci0000:00/0000:00:02.0/0000:02:00.0/nvme/nvme0/firmware_rev", "GDC5602Q");
  system.write("sys/class/dmi/id/bios_vendor", "Dell Inc.");
  system.write("sys/class/dmi/id/bios_version", "2.1.5");
  auto const machine = machine_in(system);
  EXPECT_EQ(machine.hosts.front().settings.firmware, "Dell Inc. 2.1.5");
  EXPECT_EQ(function(machine, "nic0").firmware, "22.35.1012");
  EXPECT_EQ(function(machine, "nvme0").firmware, "GDC5602Q");
}

TEST(Discover, AFlatVirtualMachineSaysWhatCannotBeKnown) {
  FakeSystem const system;
  system.cpuinfo("GenuineIntel", 6, 207, "Intel(R) Xeon(R) Processor", "fpu hypervisor vme");
  system.numa(0, 0, 3, 0);
  system.write("sys/firmware/acpi/tables/FACP", std::string("FACP\x14\x01\0\0\x06\x00", 10) + "FIRECKFCVMFADT");
  auto gpu = endpoint("0x030200", "10de:2335");
  gpu.numa = "-1";
  gpu.speed = "32.0 GT/s PCIe";
  gpu.width = "0";
  gpu.config.resize(64);
  system.add("pci0000:00/0000:00:06.0", gpu);
  system.add("pci0000:00/0000:00:07.0", gpu);
  auto nic = endpoint("0x020000", "1af4:1041");
  nic.numa = "-1";
  nic.width = "0";
  nic.config.resize(64);
  system.add("pci0000:00/0000:00:03.0", nic);
  system.interface("eth0", "pci0000:00/0000:00:03.0/virtio2", "-1");
  auto const machine = machine_in(system);
  auto const& settings = machine.hosts[0].settings;
  EXPECT_TRUE(settings.virtualization.passthrough);
  EXPECT_EQ(settings.virtualization.hypervisor, "firecracker");
  EXPECT_EQ(settings.acs, AcsControl::unknown());
  EXPECT_EQ(settings.iommu, IommuMode::Unknown);
  EXPECT_EQ(parent_of(machine, "gpu0"), "");
  EXPECT_EQ(part_of(machine, "gpu0"), "h200-sxm5-141g");
  EXPECT_FALSE(function(machine, "gpu0").link) << "width 0 is no link";
  EXPECT_EQ(part_of(machine, "nic0"), "virtio-net");
  EXPECT_EQ(function(machine, "nic0").device_name, "eth0");
  EXPECT_EQ(machine.at(*machine.sockets[0].part).name, "xeon-emerald-rapids");
  EXPECT_EQ(between(machine, "gpu0", "gpu1"), PathClass::Phb);
  EXPECT_THAT(machine.notes, has_note("the PCI tree is flat"));
  EXPECT_THAT(machine.notes, has_note("ACS and IOMMU are the host's"));
  EXPECT_THAT(machine.notes, has_note("the system gives no PCIe link of gpu0, gpu1"));
}

TEST(Discover, CliquesOfAHypervisorAreApprovedPeers) {
  FakeSystem const system;
  system.cpuinfo("AuthenticAMD", 25, 17, "AMD EPYC 9654", "hypervisor");
  system.write("sys/class/dmi/id/sys_vendor", "QEMU");
  auto gpu = a100();
  gpu.config[0x41] = 0xd4;
  std::string const capability{"\x09\x00\x08P2P\x10\x00", 8};
  std::copy(capability.begin(), capability.end(), gpu.config.begin() + 0xd4);
  system.add("pci0000:00/0000:00:05.0", gpu);
  system.add("pci0000:00/0000:00:06.0", gpu);
  auto const machine = machine_in(system);
  EXPECT_EQ(machine.hosts[0].settings.virtualization.hypervisor, "kvm");
  EXPECT_THAT(machine.hosts[0].settings.virtualization.cliques,
              testing::ElementsAre(testing::ElementsAre("gpu0", "gpu1")));
}

TEST(Discover, IommuModeIsThatOfTheGpusGroups) {
  auto const mode = [](std::string const& type, std::string const& arguments) {
    FakeSystem const system;
    system.numa(0, 0, 1, 0);
    system.write("proc/cmdline", "quiet " + arguments);
    system.add("pci0000:00/0000:00:01.0", bridge(test::kRootPort));
    auto gpu = a100();
    gpu.iommu_group = "7";
    system.write("sys/kernel/iommu_groups/7/reserved_regions", "");
    if (!type.empty()) system.write("sys/kernel/iommu_groups/7/type", type);
    system.add("pci0000:00/0000:00:01.0/0000:01:00.0", gpu);
    return machine_in(system).hosts[0].settings.iommu;
  };
  EXPECT_EQ(mode("identity", ""), IommuMode::Passthrough);
  EXPECT_EQ(mode("DMA-FQ", "iommu=pt"), IommuMode::Lazy) << "what is, not what was asked for";
  EXPECT_EQ(mode("DMA", ""), IommuMode::Strict);
  EXPECT_EQ(mode("", "iommu=pt"), IommuMode::Passthrough);
  EXPECT_EQ(mode("", ""), IommuMode::Unknown);
}

TEST(Discover, SoftRoceOverAVirtualAdapter) {
  FakeSystem const system;
  system.numa(0, 0, 1, 0);
  system.add("pci0000:00/0000:00:03.0", endpoint("0x020000", "1af4:1041"));
  system.interface("eth0", "pci0000:00/0000:00:03.0/virtio2", "10000");
  system.write("sys/devices/virtual/infiniband/rxe0/parent", "eth0");
  system.write("sys/devices/virtual/infiniband/rxe0/ports/1/state", "4: ACTIVE");
  system.link("sys/class/infiniband/rxe0", "../../devices/virtual/infiniband/rxe0");
  auto const machine = machine_in(system);
  EXPECT_EQ(part_of(machine, "nic0"), "rxe");
  EXPECT_EQ(function(machine, "nic0").device_name, "rxe0");
  EXPECT_EQ(function(machine, "nic0").bdf, "0000:00:03.0");
}

TEST(Discover, SoftRoceWithoutAPciFunction) {
  FakeSystem const system;
  system.numa(0, 0, 1, 0);
  system.write("sys/devices/virtual/infiniband/rxe1/parent", "dummy0");
  system.link("sys/class/infiniband/rxe1", "../../devices/virtual/infiniband/rxe1");
  auto const machine = machine_in(system);
  EXPECT_EQ(part_of(machine, "nic0"), "rxe");
  EXPECT_EQ(function(machine, "nic0").bdf, "");
  EXPECT_THAT(machine.notes, has_note("Soft-RoCE (rxe1 over dummy0) and has no PCI function"));
}

TEST(Discover, AnEpycSocketWithFourNumaNodes) {
  FakeSystem const system;
  system.cpuinfo("AuthenticAMD", 25, 1, "AMD EPYC 7763 64-Core Processor");
  for (int node = 0; node < 4; ++node) system.numa(node, 2 * node, 2 * node + 1, 0);
  for (int i = 0; i < 2; ++i) {
    auto const bus = std::string(i == 0 ? "20" : "60");
    auto const bus_below = std::string(i == 0 ? "21" : "61");
    auto port = bridge(test::kRootPort);
    auto gpu = a100();
    port.numa = gpu.numa = std::to_string(3 - 2 * i);
    system.add("pci0000:" + bus + "/0000:" + bus + ":01.1", port);
    system.add("pci0000:" + bus + "/0000:" + bus + ":01.1/0000:" + bus_below + ":00.0", gpu);
  }
  auto const machine = machine_in(system);
  EXPECT_THAT(machine.sockets, SizeIs(1));
  EXPECT_EQ(machine.at(*machine.sockets[0].part).name, "epyc-7763");
  EXPECT_THAT(machine.numa_nodes, SizeIs(4));
  EXPECT_EQ(machine.at(machine.numa_of(id_of(machine, "gpu0"))).os_index, 3);
  EXPECT_EQ(machine.at(machine.numa_of(id_of(machine, "gpu1"))).os_index, 1);
  EXPECT_EQ(between(machine, "gpu0", "gpu1"), PathClass::Sys);
}

TEST(Discover, RolesAloneMakeStandInsDevices) {
  FakeSystem const system;
  system.cpuinfo("AuthenticAMD", 25, 1, "AMD EPYC 7763", "hypervisor");
  system.add("pci0000:10/0000:10:00.0", bridge(test::kRootPort, 0x1d));
  system.add("pci0000:10/0000:10:00.0/0000:11:00.0", endpoint("0x00ff00", "1b36:0005"));
  system.add("pci0000:10/0000:12:00.0", bridge(test::kRootPort, 0x1d));
  system.add("pci0000:00/0000:00:03.0", endpoint("0x020000", "1af4:1041"));
  system.interface("eth0", "pci0000:00/0000:00:03.0/virtio2", "-1");
  EXPECT_THAT(machine_in(system).all(PciKind::Gpu), IsEmpty());

  auto const machine =
      machine_in(system, std::vector<Role>{{"0000:10:00.0", "rp7", RoleKind::RootPort, "", ""},
                                           {"0000:12:00.0", "rp8", RoleKind::RootPort, "", ""},
                                           {"0000:11:00.0", "gpu5", RoleKind::Gpu, "a100-pcie-80g", ""},
                                           {"0000:77:00.0", "gpu6", RoleKind::Gpu, "a100-pcie-80g", ""}});
  EXPECT_THAT(machine.functions, SizeIs(3)) << "what has no role is the emulator's own";
  EXPECT_EQ(function(machine, "rp8").kind, PciKind::RootPort) << "an empty slot";
  EXPECT_EQ(parent_of(machine, "gpu5"), "rp7");
  EXPECT_EQ(part_of(machine, "gpu5"), "a100-pcie-80g");
  EXPECT_EQ(machine.acs_above(id_of(machine, "gpu5")), AcsControl::on()) << "emulated ports are what is meant";
  EXPECT_FALSE(machine.hosts[0].settings.virtualization.passthrough);
  EXPECT_THAT(machine.notes, has_note("the roles file has 'gpu6' at 0000:77:00.0, where there is no PCI function"));
}

// ------------------------------------------------------------------------------------------------------- hostile files

TEST(Discover, MissingFilesLeaveThingsUnknown) {
  FakeSystem const system;
  auto const machine = machine_in(system);
  EXPECT_THAT(machine.sockets, SizeIs(1));
  EXPECT_FALSE(machine.sockets[0].part);
  EXPECT_THAT(machine.functions, IsEmpty());
  EXPECT_THAT(machine.notes, has_note("lists no PCI devices"));
  EXPECT_THAT(machine.notes, has_note("the system lists no NUMA nodes"));
}

TEST(Discover, ARootThatIsNoneIsRefused) {
  auto catalogue = bundled();
  DiscoverOptions options;
  options.sysfs = "/nowhere/at/all";
  EXPECT_THAT(error_of([&] { discover(options, catalogue); }), HasSubstr("/nowhere/at/all: no folder"));
}

TEST(Discover, HostileFilesAreSurvived) {
  FakeSystem const system;
  system.write("sys/devices/system/node/node0/cpulist", "0-99999999999");
  system.write("sys/devices/system/node/node99999999999999999999/cpulist", "0");
  system.write("proc/cpuinfo", ":::\n\t:\nmodel name");
  auto gpu = a100();
  gpu.width = "99999999999999999999";
  gpu.speed = "garbage";
  gpu.max_width = "-3";
  gpu.numa = "2147483648";
  system.add("pci0000:00/0000:00:01.0", gpu);
  system.write("sys/devices/pci0000:00/0000:00:01.0/resource", "0xffffffffffffffffffff zzz 0x0");
  system.write("sys/bus/pci/devices/not-an-address/class", "0x030200");
  system.link("sys/bus/pci/devices/0000:00:02.0", "0000:00:02.0");  // leads to itself
  // Two bridges, each on the path of the other.
  system.link("sys/bus/pci/devices/0000:05:00.0", "../../../devices/pci0000:05/0000:06:00.0/0000:05:00.0");
  system.link("sys/bus/pci/devices/0000:06:00.0", "../../../devices/pci0000:05/0000:05:00.0/0000:06:00.0");
  system.link("sys/class/infiniband/loop", "loop");
  system.write("sys/class/infiniband/mlx5_9/ports/1/state", "4: ACTIVE");
  system.write("sys/class/infiniband/mlx5_9/ports/1/rate", "-5e999 Gb/sec");
  auto const machine = machine_in(system);
  EXPECT_EQ(part_of(machine, "gpu0"), "a100-pcie-80g");
  EXPECT_FALSE(function(machine, "gpu0").max_link);
  EXPECT_THAT(machine.notes, has_note("'not-an-address' among the PCI devices is no address"));
}

}  // namespace
}  // namespace lanewise::hw
