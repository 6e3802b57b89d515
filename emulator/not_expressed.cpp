#include "emulator/not_expressed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/machine/path_class.hpp"

namespace lanewise::emulator {
namespace {

class Limits {
 public:
  Limits(Machine const& machine, HostId host, PciLayout const& layout, std::vector<NumaId> const& numa_nodes,
         int newest_link)
      : machine_(machine), host_(host), layout_(layout), numa_nodes_(numa_nodes), newest_link_(newest_link) {}

  std::vector<NotExpressed> find() {
    links();
    links_between_processors();
    devices();
    settings();
    numa();
    return std::move(found_);
  }

 private:
  // Calls this with the id and the name of every function of the host.
  template <class Action>
  void each_function(Action action) const {
    for (auto const& device : layout_.devices)
      if (device.function) action(*device.function, name_in_host(machine_, *device.function), device);
  }
  void add(std::string kind, std::string subject, std::string key, std::string reason) {
    found_.push_back({std::move(kind), std::move(subject), std::move(key), std::move(reason)});
  }
  [[nodiscard]] bool is_below_switch(PciFunction const& function) const {
    return function.parent && machine_.at(*function.parent).kind == PciKind::Switch;
  }

  void links() {
    each_function([&](PciId id, std::string const& name, EmulatedDevice const& device) {
      auto const& function = machine_.at(id);
      if (is_below_switch(function)) {
        add("link", name, "", "links below switches: the ports of QEMU's switch are gen1 x1");
        add("acs", name, "", "ACS below switches: the ports of QEMU's switch have no ACS capability");
      } else if (function.kind == PciKind::Switch || function.kind == PciKind::Nvme) {
        add("link", name, "",
            "links of switches and drives to their root port: what runs is gen1 x1, the port says what it can do");
      } else if (function.parent && !function.link && !assumed_link(machine_, id)) {
        add("link", name, "", "links that the machine file does not say: the port's is QEMU's own");
      } else if (!function.parent && function.kind != PciKind::RootPort) {
        add("link", name, "", "links of devices without a root port: their stand-ins have none");
      }
      if (function.kind == PciKind::RootPort && device.below) add_older_link(name, *device.below);
      if (!function.chip.empty())
        add("place", name, "chip", "virtual switches of one chip: they are switches of their own");
    });
  }

  // A root port whose link is newer than those of this QEMU.
  void add_older_link(std::string const& port, PciId below) {
    auto wanted = machine_.at(below).link;
    if (!wanted) wanted = assumed_link(machine_, below);
    if (wanted && wanted->generation > newest_link_)
      add("link", name_in_host(machine_, below), "",
          fmt::format("{} is {}; the newest link of this QEMU is gen{}", port, to_string(*wanted), newest_link_));
  }

  void links_between_processors() {
    auto const here = [&](SocketId socket) { return machine_.at(socket).host == host_; };
    auto const end_here = [&](NvlinkEnd const& end) {
      auto const* gpu = std::get_if<PciId>(&end);
      return gpu != nullptr ? machine_.host_of(*gpu) == host_ : here(std::get<SocketId>(end));
    };
    bool const nvlinks = std::any_of(machine_.nvlinks.begin(), machine_.nvlinks.end(),
                                     [&](NvlinkBundle const& bundle) { return end_here(bundle.a); });
    bool const nvswitches = std::any_of(machine_.nvswitches.begin(), machine_.nvswitches.end(),
                                        [&](NvSwitch const& domain) { return domain.host == host_; });
    if (nvlinks || nvswitches) add("nvlink", "", "", "NVLink, C2C and xGMI between GPUs");
    if (std::any_of(machine_.socket_links.begin(), machine_.socket_links.end(),
                    [&](SocketLink const& link) { return here(link.a); }))
      add("socket_link", "", "", "links between sockets: the guest knows of NUMA nodes only");
  }

  void devices() {
    add("device", "", "bdf", "PCI addresses: they follow from the tree that QEMU builds");
    add("software", "", "", "software: the guest has the host's programs, and no driver of a GPU");
    each_function([&](PciId id, std::string const& name, EmulatedDevice const& device) {
      auto const& function = machine_.at(id);
      if (function.kind == PciKind::Gpu)
        add("figure", name, "", "GPUs: memory with a PCI function stands in for each; no driver takes it for a GPU");
      if (function.mig) add("setting", name, "mig", "MIG");
      if (function.kind == PciKind::Nic)
        add("setting", name, "", "NICs: rates are what processors reach, and data bypass the IOMMU");
      if (device.bus == "pcie.0" && numa_nodes_.size() > 1)
        add("numa", name, "", fmt::format("{} hangs from no root port, so it has no NUMA node", name));
    });
  }

  void settings() {
    auto const& settings = machine_.at(host_).settings;
    if (!settings.acs.known)
      add("acs", "", "", "ACS: unknown in the machine file; ports are as the kernel leaves them");
    if (settings.iommu == IommuMode::Unknown) add("iommu", "", "", "IOMMU: unknown in the machine file; there is none");
    if (settings.iommu == IommuMode::Vfio)
      add("iommu", "", "", "IOMMU: vfio is like strict; no device is bound to vfio-pci");
    if (translates(settings.iommu) && settings.iommu_page != Bytes(4096))
      add("iommu", "", "iommu_page", "pages of the IOMMU: the kernel chooses their size");
    if (settings.virtualization != Virtualization{})
      add("setting", "virtualization", "", "virtualization: the guest sees the host that the file describes");
  }

  void numa() {
    bool cores = false;
    for (std::size_t number = 0; number < numa_nodes_.size(); ++number) {
      auto const& node = machine_.at(numa_nodes_[number]);
      cores = cores || !node.cores.empty();
      if (node.os_index != static_cast<int>(number))
        add("numa", "", "", fmt::format("NUMA node {} is number {} in the guest", node.os_index, number));
    }
    if (cores) add("numa", "", "cores", "cores: the guest has one for each NUMA node, and at least two");
  }

  Machine const& machine_;
  HostId host_;
  PciLayout const& layout_;
  std::vector<NumaId> const& numa_nodes_;
  int newest_link_;
  std::vector<NotExpressed> found_;
};

}  // namespace

std::vector<NotExpressed> not_expressed(Machine const& machine, HostId host, PciLayout const& layout,
                                        std::vector<NumaId> const& numa_nodes, int newest_link) {
  return Limits(machine, host, layout, numa_nodes, newest_link).find();
}

}  // namespace lanewise::emulator
