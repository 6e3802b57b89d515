#pragma once
// A system's files as the kernel shows them, written where the test stands.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace lanewise::test {

inline constexpr int kEndpoint = 0, kRootPort = 4, kUpstream = 5, kDownstream = 6;

// Configuration space with a PCI Express capability of this port type, and an ACS capability with this control.
inline std::vector<std::uint8_t> config_space(int port_type, std::optional<std::uint16_t> acs = std::nullopt,
                                              std::size_t size = 4096) {
  std::vector<std::uint8_t> bytes(4096, 0);
  bytes[0x00] = 0xde, bytes[0x01] = 0x10;  // a vendor
  bytes[0x06] = 0x10;                      // has capabilities
  bytes[0x34] = 0x40;
  bytes[0x40] = 0x10;
  bytes[0x42] = static_cast<std::uint8_t>(port_type << 4 | 2);
  bytes[0x48] = 0x30, bytes[0x49] = 0x21;  // MPS 256 B, relaxed ordering, extended tags, MRRS 512 B
  bytes[0x4c] = 0x04, bytes[0x4d] = 0x01;  // gen4 x16 at most
  bytes[0x52] = 0x03, bytes[0x53] = 0x01;  // gen3 x16 now
  if (acs) {
    bytes[0x100] = 0x0d, bytes[0x102] = 0x01;
    bytes[0x106] = static_cast<std::uint8_t>(*acs & 0xff), bytes[0x107] = static_cast<std::uint8_t>(*acs >> 8);
  }
  bytes.resize(size);
  return bytes;
}

struct FakeFunction {
  std::string class_code = "0x060400";
  std::string id = "1000:c010";  // vendor and device
  std::string speed = "16.0 GT/s PCIe";
  std::string width = "16";
  std::string max_speed = "16.0 GT/s PCIe";
  std::string max_width = "16";
  std::string numa = "0";
  std::vector<std::uint8_t> config = {};
  std::string iommu_group = {};
  std::string driver = {};
  std::string physical = {};  // of a virtual function: the function that it is of
};

inline FakeFunction bridge(int port_type, std::optional<std::uint16_t> acs = 0) {
  FakeFunction function;
  function.config = config_space(port_type, acs);
  return function;
}
inline FakeFunction endpoint(std::string class_code, std::string id) {
  FakeFunction function;
  function.class_code = std::move(class_code);
  function.id = std::move(id);
  function.config = config_space(kEndpoint);
  return function;
}
inline FakeFunction a100() { return endpoint("0x030200", "10de:20b5"); }

class FakeSystem {
 public:
  FakeSystem() {
    std::filesystem::create_directories(sys() / "bus/pci/devices");
    std::filesystem::create_directories(sys() / "kernel/iommu_groups");
    std::filesystem::create_directories(sys() / "class/iommu");
  }

  [[nodiscard]] std::filesystem::path sys() const { return folder_.path() / "sys"; }
  void write(std::string const& name, std::string const& text) const { (void)folder_.with(name, text + "\n"); }
  void link(std::string const& name, std::string const& target) const {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::filesystem::create_symlink(target, folder_.path() / name);
  }

  // A NUMA node whose cores are all in one socket.
  void numa(int node, int first_core, int last_core, int package) const {
    write("sys/devices/system/node/node" + std::to_string(node) + "/cpulist",
          std::to_string(first_core) + "-" + std::to_string(last_core));
    for (int core = first_core; core <= last_core; ++core)
      write("sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/physical_package_id",
            std::to_string(package));
  }
  void cpuinfo(std::string const& vendor, int family, int model, std::string const& name,
               std::string const& flags = "fpu vme") const {
    write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: " + vendor + "\ncpu family\t: " + std::to_string(family) +
                              "\nmodel\t\t: " + std::to_string(model) + "\nmodel name\t: " + name +
                              "\nflags\t\t: " + flags + "\n\nprocessor\t: 1\nvendor_id\t: " + vendor);
  }

  // `path`: from the root bus down, "pci0000:3a/0000:3a:00.0/0000:3b:00.0".
  void add(std::string const& path, FakeFunction const& function) const {
    auto const bdf = path.substr(path.rfind('/') + 1);
    auto const at = "sys/devices/" + path + "/";
    auto const colon = function.id.find(':');
    write(at + "class", function.class_code);
    write(at + "vendor", "0x" + function.id.substr(0, colon));
    write(at + "device", "0x" + function.id.substr(colon + 1));
    write(at + "current_link_speed", function.speed);
    write(at + "current_link_width", function.width);
    write(at + "max_link_speed", function.max_speed);
    write(at + "max_link_width", function.max_width);
    write(at + "numa_node", function.numa);
    write(at + "resource",
          "0x0000000080000000 0x0000000080ffffff 0x0000000000040200\n"
          "0x0000000000000000 0x0000000000000000 0x0000000000000000");
    (void)folder_.with(at + "config", std::string(function.config.begin(), function.config.end()));
    if (!function.iommu_group.empty())
      link(at + "iommu_group", "../../../../kernel/iommu_groups/" + function.iommu_group);
    if (!function.driver.empty()) link(at + "driver", "../../../../bus/pci/drivers/" + function.driver);
    if (!function.physical.empty()) link(at + "physfn", "../" + function.physical);
    link("sys/bus/pci/devices/" + bdf, "../../../devices/" + path);
  }

  // An RDMA device with one active port, on the PCI function at the end of this path.
  void rdma(std::string const& name, std::string const& path, std::string const& rate) const {
    auto const at = "sys/devices/" + path + "/infiniband/" + name;
    write(at + "/node_guid", "0c42:a103:0065:aafe");
    write(at + "/ports/1/state", "4: ACTIVE");
    write(at + "/ports/1/rate", rate);
    write(at + "/ports/1/link_layer", "InfiniBand");
    link("sys/class/infiniband/" + name, "../../devices/" + path + "/infiniband/" + name);
  }
  void interface(std::string const& name, std::string const& path, std::string const& megabits) const {
    auto const at = "sys/devices/" + path + "/net/" + name;
    write(at + "/operstate", "up");
    write(at + "/speed", megabits);
    write(at + "/type", "1");
    link("sys/class/net/" + name, "../../devices/" + path + "/net/" + name);
  }

 private:
  TemporaryFolder folder_;
};

// Two sockets of Ice Lake. On the first a switch with two GPUs and a NIC, ACS on above gpu0 alone; on the second one
// GPU straight below a root port.
inline void fill_two_sockets(FakeSystem const& system) {
  constexpr std::uint16_t kOn = 0x1d;  // SV, RR, CR, UF
  system.cpuinfo("GenuineIntel", 6, 106, "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz");
  system.numa(0, 0, 3, 0);
  system.numa(1, 4, 7, 1);
  std::string const up = "pci0000:3a/0000:3a:00.0";
  system.add(up, bridge(kRootPort));
  system.add(up + "/0000:3b:00.0", bridge(kUpstream, std::nullopt));
  std::string const ports = up + "/0000:3b:00.0/0000:3c:";
  system.add(ports + "00.0", bridge(kDownstream, kOn));
  system.add(ports + "00.0/0000:3d:00.0", a100());
  system.add(ports + "04.0", bridge(kDownstream));
  system.add(ports + "04.0/0000:3e:00.0", a100());
  system.add(ports + "08.0", bridge(kDownstream));
  system.add(ports + "08.0/0000:3f:00.0", endpoint("0x020700", "15b3:101b"));
  system.rdma("mlx5_0", ports + "08.0/0000:3f:00.0", "100 Gb/sec (2X HDR)");
  auto port = bridge(kRootPort);
  port.numa = "1";
  system.add("pci0000:ba/0000:ba:00.0", port);
  auto gpu = a100();
  gpu.numa = "1";
  system.add("pci0000:ba/0000:ba:00.0/0000:bb:00.0", gpu);
}

}  // namespace lanewise::test
