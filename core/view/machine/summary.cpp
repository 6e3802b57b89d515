#include "core/view/machine/summary.hpp"

#include <fmt/format.h>

#include <string_view>

namespace lanewise {
namespace {

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

std::string machine_summary(Machine const& machine) {
  auto const& virtualization = machine.hosts.front().settings.virtualization;
  auto const where = virtualization.hypervisor.empty() ? std::string(virtualization.passthrough ? ", virtual" : "")
                                                       : fmt::format(", virtual ({})", virtualization.hypervisor);
  auto const functions = [&](PciKind kind, std::string_view one, std::string_view many) {
    return counted(machine.all(kind).size(), one, many);
  };
  return fmt::format(
      "{}: {}, {}, {}, {}, {}, {}{}\n", machine.name, counted(machine.sockets.size(), "socket", "sockets"),
      counted(machine.numa_nodes.size(), "NUMA node", "NUMA nodes"),
      functions(PciKind::Switch, "PCIe switch", "PCIe switches"), functions(PciKind::Gpu, "GPU", "GPUs"),
      functions(PciKind::Nic, "NIC", "NICs"), functions(PciKind::Nvme, "NVMe drive", "NVMe drives"), where);
}

}  // namespace lanewise
