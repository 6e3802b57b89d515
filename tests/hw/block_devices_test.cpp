// Block devices as Linux shows them: partitions, an array of drives, a drive with two controllers.
#include "hw/discover/sources/block_devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/discover/sources/sources.hpp"
#include "tests/hw/fake_system.hpp"

namespace lanewise::hw {
namespace {

using test::FakeSystem;
using testing::ElementsAre;
using testing::IsEmpty;

class BlockDevices : public testing::Test {
 protected:
  void device(std::string const& name, std::string const& folder, std::string const& numbers,
              std::string const& sectors = "2048") const {
    system_.write("sys/devices/" + folder + "/dev", numbers);
    system_.write("sys/devices/" + folder + "/size", sectors);
    system_.link("sys/class/block/" + name, "../../devices/" + folder);
    system_.link("sys/dev/block/" + numbers, "../../devices/" + folder);
  }
  void partition(std::string const& name, std::string const& folder, std::string const& numbers) const {
    device(name, folder, numbers);
    system_.write("sys/devices/" + folder + "/partition", "1");
  }
  [[nodiscard]] std::vector<BlockDeviceFacts> found() const {
    HostFacts facts;
    read_block_devices(Sysfs(system_.sys()), facts);
    return facts.block_devices;
  }

  FakeSystem system_;
};

TEST_F(BlockDevices, AreFoundBelowTheirDriveWithWhereTheyAreMounted) {
  std::string const drive = "pci0000:00/0000:00:02.0/0000:02:00.0/nvme/nvme0/nvme0n1";
  device("nvme0n1", drive, "259:0", "7501476528");
  partition("nvme0n1p1", drive + "/nvme0n1p1", "259:1");
  device("loop0", "virtual/block/loop0", "7:0");
  system_.write("proc/self/mountinfo",
                "22 1 259:1 / / rw - ext4 /dev/nvme0n1p1 rw\n23 22 259:0 /a /data\\040of\\040mine rw - xfs /dev/x rw\n"
                "24 22 7:0 / /loop ro - squashfs /dev/loop0 ro");
  auto const devices = found();
  ASSERT_EQ(devices.size(), 1U);  // neither the partition nor what lies on no PCI device
  EXPECT_EQ(devices[0].name, "nvme0n1");
  EXPECT_THAT(devices[0].functions, ElementsAre("0000:02:00.0"));
  EXPECT_EQ(devices[0].bytes, Bytes(3840755982336));
  EXPECT_THAT(devices[0].mounted_at, ElementsAre("/data of mine", "/"));
  Sysfs const sysfs(system_.sys());
  EXPECT_EQ(block_device_name(sysfs, 259, 1), "nvme0n1p1");
  EXPECT_THAT(pci_functions_below(sysfs, "nvme0n1p1"), ElementsAre("0000:02:00.0"));
  EXPECT_EQ(block_device_name(sysfs, 1, 1), "");
  EXPECT_THAT(pci_functions_below(sysfs, ""), IsEmpty());
}

TEST_F(BlockDevices, OfAnArrayLieOnAllItsDrives) {
  device("nvme0n1", "pci0000:00/0000:00:02.0/0000:02:00.0/nvme/nvme0/nvme0n1", "259:0");
  device("nvme1n1", "pci0000:00/0000:00:03.0/0000:03:00.0/nvme/nvme1/nvme1n1", "259:1");
  device("md0", "virtual/block/md0", "9:0");
  for (auto const* drive : {"nvme0n1", "nvme1n1"})
    system_.write(std::string("sys/devices/virtual/block/md0/slaves/") + drive + "/size", "1");
  partition("md0p1", "virtual/block/md0/md0p1", "259:9");
  for (auto const* name : {"md0", "md0p1"})
    EXPECT_THAT(pci_functions_below(Sysfs(system_.sys()), name), ElementsAre("0000:02:00.0", "0000:03:00.0"));
}

TEST_F(BlockDevices, OfADriveWithTwoControllersLieOnBoth) {
  device("nvme0n1", "virtual/nvme-subsystem/nvme-subsys0/nvme0n1", "259:0");
  system_.link("sys/class/nvme-subsystem/nvme-subsys0", "../../devices/virtual/nvme-subsystem/nvme-subsys0");
  for (auto const* name : {"nvme0", "nvme1"}) {
    auto const at = std::string("pci0000:00/0000:00:02.0/0000:0") + (name[4] == '0' ? "2" : "3") + ":00.0/nvme/" + name;
    system_.link(std::string("sys/devices/virtual/nvme-subsystem/nvme-subsys0/") + name, "../../../" + at);
    system_.link(std::string("sys/class/nvme/") + name, "../../devices/" + at);
  }
  EXPECT_THAT(pci_functions_below(Sysfs(system_.sys()), "nvme0n1"), ElementsAre("0000:02:00.0", "0000:03:00.0"));
}

TEST_F(BlockDevices, OfACircleOfArraysEnd) {
  device("md0", "virtual/block/md0", "9:0");
  system_.write("sys/devices/virtual/block/md0/slaves/md0/size", "1");
  EXPECT_THAT(pci_functions_below(Sysfs(system_.sys()), "md0"), IsEmpty());
}

}  // namespace
}  // namespace lanewise::hw
