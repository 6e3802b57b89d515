// Folders `sys` and `proc` as the kernel shows them: Linux Documentation/ABI/testing/sysfs-bus-pci,
// -kernel-iommu_groups, -class-infiniband, -devices-system-cpu.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/interop/exports/exported_ids.hpp"
#include "core/interop/exports/nvml_mock/config_space.hpp"
#include "core/interop/exports/nvml_mock/mock_system.hpp"
#include "core/machine/nic_rate.hpp"

namespace lanewise {
namespace {

constexpr double kBitsPerGigabyte = 8e-9;

class SysfsWriter {
 public:
  explicit SysfsWriter(Machine const& machine)
      : machine_(machine), layout_(pci_layout(machine)), host_(machine.hosts.front()) {}

  std::vector<MockFile> write() {
    add_cpus();
    add_platform();
    for (auto const& bus : layout_.root_buses) folder("sys/devices/pci" + bus);
    folder("sys/bus/pci/devices");
    for (auto const& entry : layout_.functions) add_function(entry);
    return std::move(files_);
  }

 private:
  void text(std::string path, std::string const& content) {
    files_.push_back({std::move(path), content + "\n", MockFile::Kind::Text});
  }
  void folder(std::string path) { files_.push_back({std::move(path), {}, MockFile::Kind::Folder}); }
  void link(std::string path, std::string target) {
    files_.push_back({std::move(path), std::move(target), MockFile::Kind::Link});
  }

  void add_cpus() {
    auto const cores = exported_cores(machine_);
    for (std::size_t i = 0; i < cores.size(); ++i) {
      auto const& numa = machine_.numa_nodes[i];
      std::string list = numa.cores;
      if (numbers_of_list(list).empty()) list = std::to_string(*cores[i].begin());
      text(fmt::format("sys/devices/system/node/node{}/cpulist", numa.os_index), list);
      for (auto const core : cores[i])
        text(fmt::format("sys/devices/system/cpu/cpu{}/topology/physical_package_id", core),
             std::to_string(index(numa.socket)));
    }
    add_cpuinfo();
  }

  // Firmware names the product in words, which discovery holds against the names of parts.
  void add_cpuinfo() {
    std::string info = "processor\t: 0\n";
    auto const* part = machine_.sockets.empty() ? nullptr : machine_.part_of(SocketId{0});
    if (part != nullptr) {
      if (!part->cpu.cpuid.empty()) {
        auto const words = split_cpuid(part->cpu.cpuid.front());
        info +=
            fmt::format("vendor_id\t: {}\ncpu family\t: {}\nmodel\t\t: {}\n", words.vendor, words.family, words.model);
      }
      auto name = part->name;
      std::replace(name.begin(), name.end(), '-', ' ');
      info += fmt::format("model name\t: {} ({})\n", part->title.empty() ? part->name : part->title, name);
    }
    info += fmt::format("flags\t\t: fpu vme{}", host_.settings.virtualization.passthrough ? " hypervisor" : "");
    text("proc/cpuinfo", info);
  }

  void add_platform() {
    auto const& hypervisor = host_.settings.virtualization.hypervisor;
    if (host_.settings.virtualization.passthrough) {
      if (hypervisor == "xen") text("sys/hypervisor/type", "xen");
      if (hypervisor == "kvm") text("sys/class/dmi/id/sys_vendor", "QEMU");
      if (hypervisor == "vmware") text("sys/class/dmi/id/sys_vendor", "VMware, Inc.");
      if (hypervisor == "hyperv") {
        text("sys/class/dmi/id/sys_vendor", "Microsoft Corporation");
        text("sys/class/dmi/id/product_name", "Virtual Machine");
      }
      if (hypervisor == "firecracker") text("sys/firmware/acpi/tables/FACP", "FACP......FIRECK");
    } else if (!machine_.title.empty()) {
      text("sys/class/dmi/id/product_name", machine_.title);
    }
    auto const mode = host_.settings.iommu;
    text("proc/cmdline", mode == IommuMode::Passthrough ? "iommu=pt" : "quiet");
    text("proc/sys/kernel/hostname", machine_.name);
    if (mode != IommuMode::Unknown) {
      folder("sys/class/iommu");
      folder("sys/kernel/iommu_groups");
    }
    if (has_iommu()) text("sys/class/iommu/dmar0/intel-iommu/version", "4:0");
    auto const& software = host_.software;
    for (auto const& [loaded, module] :
         std::array<std::pair<bool, char const*>, 4>{{{software.cuda, "nvidia"},
                                                      {software.peermem, "nvidia_peermem"},
                                                      {software.gdrcopy, "gdrdrv"},
                                                      {software.gpudirect_storage, "nvidia_fs"}}})
      if (loaded) text(fmt::format("sys/module/{}/initstate", module), "live");
  }

  [[nodiscard]] bool has_iommu() const {
    return host_.settings.iommu != IommuMode::Unknown && host_.settings.iommu != IommuMode::Off;
  }

  // "pci0000:3a/0000:3a:00.0/0000:3b:00.0"
  [[nodiscard]] std::string path_of(ExportedFunction const& entry) const {
    if (entry.parent) return path_of(layout_.functions[*entry.parent]) + "/" + entry.bdf;
    return fmt::format("pci{}/{}", layout_.root_buses[index(entry.bridge)], entry.bdf);
  }
  // "../" for each folder of a path.
  static std::string up(std::string const& path) {
    std::string result;
    for (auto i = std::count(path.begin(), path.end(), '/'); i >= 0; --i) result += "../";
    return result;
  }

  void add_link(std::string const& at, char const* which, std::optional<PcieLink> value) {
    if (!value) return;
    text(fmt::format("{}{}_link_speed", at, which),
         fmt::format("{:.1f} GT/s PCIe", gigatransfers_per_second(value->generation)));
    text(fmt::format("{}{}_link_width", at, which), std::to_string(value->width));
  }

  void add_function(ExportedFunction const& entry) {
    auto const path = path_of(entry);
    auto const at = "sys/devices/" + path + "/";
    auto const ids = exported_ids(machine_, entry);
    text(at + "class", fmt::format("0x{:06x}", ids.class_code));
    text(at + "vendor", "0x" + ids.id.substr(0, 4));
    text(at + "device", "0x" + ids.id.substr(5));
    text(at + "numa_node", std::to_string(machine_.at(machine_.at(entry.bridge).numa).os_index));
    bool const endpoint = entry.port == ExportedPort::Endpoint;
    auto const& function = machine_.at(entry.function);
    bool const own = endpoint || entry.port == ExportedPort::SwitchUpstream;
    auto const link_here = own ? function.link : std::nullopt;
    auto const best = function.max_link ? function.max_link : function.link;
    bool const port_of_child = entry.port == ExportedPort::SwitchDownstream;
    auto const acs = acs_of(entry);
    add_link(at, "current", link_here);
    add_link(at, "max", own || port_of_child ? best : best_below(entry));
    files_.push_back({at + "config", config_space(ids, entry.port, link_here, own ? best : std::nullopt, acs)});
    text(at + "resource", resource_of(entry));
    if (has_iommu() && endpoint) add_iommu_group(at, path, entry);
    link("sys/bus/pci/devices/" + entry.bdf, "../../../devices/" + path);
    if (endpoint && function.kind == PciKind::Nic) add_nic(path, entry.function);
  }

  // The best link of what is below a root port: both ends must be able to do it.
  [[nodiscard]] std::optional<PcieLink> best_below(ExportedFunction const& entry) const {
    for (auto const& function : machine_.functions)
      if (function.parent == entry.function && entry.port == ExportedPort::RootPort)
        return function.max_link ? function.max_link : function.link;
    return std::nullopt;
  }

  // The control of a port is that of the function below it.
  [[nodiscard]] std::optional<AcsControl> acs_of(ExportedFunction const& entry) const {
    if (entry.port == ExportedPort::SwitchDownstream) return machine_.acs_above(entry.function);
    if (entry.port != ExportedPort::RootPort) return std::nullopt;
    for (std::size_t i = 0; i < machine_.functions.size(); ++i)
      if (machine_.functions[i].parent == entry.function) return machine_.acs_above(PciId(i));
    return host_.settings.acs;
  }

  // One memory window. Of a GPU the size of its BAR1, in its second pair of registers.
  [[nodiscard]] std::string resource_of(ExportedFunction const& entry) const {
    constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
    std::uint64_t size = 16 * kMebibyte;
    std::string lines = fmt::format("0x{:016x} 0x{:016x} 0x{:016x}", 0x80000000U, 0x80000000U + size - 1, 0x40200);
    auto const* part = machine_.part_of(entry.function);
    bool const gpu = entry.port == ExportedPort::Endpoint && machine_.at(entry.function).kind == PciKind::Gpu;
    if (gpu && part != nullptr && part->gpu.bar1) {
      size = static_cast<std::uint64_t>(part->gpu.bar1->value());
      constexpr std::uint64_t kHigh = std::uint64_t{1} << 40U;
      lines += fmt::format("\n0x{:016x} 0x{:016x} 0x{:016x}", kHigh, kHigh + size - 1, 0x14220c);
    }
    return lines;
  }

  // Linux joins devices in a group that reach each other without passing the IOMMU: those below ports without ACS.
  void add_iommu_group(std::string const& at, std::string const& path, ExportedFunction const& entry) {
    auto top = entry;
    bool isolated = true;
    while (top.parent) {
      auto const& above = layout_.functions[*top.parent];
      if (auto const acs = acs_of(above); acs && above.port == ExportedPort::SwitchDownstream)
        isolated = isolated && acs->has(AcsControl::kRequestRedirect) && acs->has(AcsControl::kUpstreamForwarding);
      top = above;
    }
    auto const key = isolated ? entry.bdf : top.bdf;
    auto const [group, fresh] = groups_.emplace(key, groups_.size());
    auto const name = std::to_string(group->second);
    if (fresh) text("sys/kernel/iommu_groups/" + name + "/type", group_type());
    link(at + "iommu_group", up(path) + "../kernel/iommu_groups/" + name);
    if (host_.settings.iommu == IommuMode::Vfio) link(at + "driver", up(path) + "../bus/pci/drivers/vfio-pci");
  }
  [[nodiscard]] std::string group_type() const {
    switch (host_.settings.iommu) {
      case IommuMode::Passthrough: return "identity";
      case IommuMode::Lazy: return "DMA-FQ";
      default: return "DMA";
    }
  }

  void add_nic(std::string const& path, PciId id) {
    auto const& function = machine_.at(id);
    auto const* part = machine_.part_of(id);
    auto const name = function.device_name.empty() ? function.name : function.device_name;
    auto const rate = nic_rate(machine_, id);
    bool const rdma = part == nullptr || part->nic.rdma;
    auto const of_class = rdma ? "infiniband" : "net";
    auto const at = fmt::format("sys/devices/{}/{}/{}/", path, of_class, name);
    link(fmt::format("sys/class/{}/{}", of_class, name), fmt::format("../../devices/{}/{}/{}", path, of_class, name));
    if (rdma) {
      bool const infiniband = part != nullptr && part->nic.link_layer == LinkLayer::InfiniBand;
      text(at + "node_guid", fmt::format("0000:0000:0000:{:04x}", index(id) + 1));
      text(at + "ports/1/state", "4: ACTIVE");
      text(at + "ports/1/link_layer", infiniband ? "InfiniBand" : "Ethernet");
      if (rate) text(at + "ports/1/rate", fmt::format("{:g} Gb/sec (4X)", rate->value() * kBitsPerGigabyte));
      return;
    }
    text(at + "operstate", "up");
    text(at + "type", "1");
    constexpr double kMegabitsPerByte = 8e-6;
    if (rate) text(at + "speed", fmt::format("{:.0f}", rate->value() * kMegabitsPerByte));
  }

  Machine const& machine_;
  PciLayout layout_;
  Host const& host_;
  std::map<std::string, std::size_t> groups_;
  std::vector<MockFile> files_;
};

}  // namespace

std::vector<MockFile> mock_sysfs(Machine const& machine) { return SysfsWriter(machine).write(); }

std::vector<MockFile> mock_system(Machine const& machine) {
  auto files = mock_sysfs(machine);
  files.push_back({"config.yaml", mock_nvml_config(machine), MockFile::Kind::Text});
  return files;
}

}  // namespace lanewise
