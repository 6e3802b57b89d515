#include "core/view/machine/topo.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/machine/node_kinds.hpp"
#include "core/machine/path_class.hpp"
#include "core/view/machine/words.hpp"

namespace lanewise {
namespace {

constexpr std::string_view kLegend = R"(
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
)";

// The matrix of one machine.
class TopoView {
 public:
  explicit TopoView(Machine const& machine) : machine_(machine), gpus_(machine.all(PciKind::Gpu)) {
    for (auto const id : machine.all(PciKind::Nic))
      if (has_rdma_device(id)) nics_.push_back(id);
  }

  [[nodiscard]] std::string text() const {
    std::string out = header();
    for (std::size_t i = 0; i < gpus_.size(); ++i)
      out += fmt::format("GPU{}{}\t{}\n", i, cells(gpus_[i]), affinity(gpus_[i]));
    for (std::size_t i = 0; i < nics_.size(); ++i) out += fmt::format("NIC{}{}\t\t\t\t\n", i, cells(nics_[i]));
    return out + std::string(kLegend) + nic_legend() + gpu_legend();
  }

 private:
  // The tool lists the devices in /sys/class/infiniband. If the part of a NIC is unknown, only its device name can
  // tell.
  [[nodiscard]] bool has_rdma_device(PciId id) const {
    auto const* part = machine_.part_of(id);
    return part != nullptr ? part->nic.rdma : !machine_.at(id).device_name.empty();
  }

  [[nodiscard]] std::string header() const {
    std::string line;
    for (std::size_t i = 0; i < gpus_.size(); ++i) line += fmt::format("\tGPU{}", i);
    for (std::size_t i = 0; i < nics_.size(); ++i) line += fmt::format("\tNIC{}", i);
    return line + "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n";
  }

  [[nodiscard]] std::string cells(PciId row) const {
    std::string line;
    for (auto const* column : {&gpus_, &nics_})
      for (auto const id : *column) line += "\t" + cell(row, id);
    return line;
  }

  [[nodiscard]] std::string cell(PciId a, PciId b) const {
    if (a == b) return " X ";
    if (auto const links = nvlink_count(machine_, a, b); links > 0) return fmt::format("NV{}", links);
    return std::string(to_string(path_class(machine_, a, b)));
  }

  // The GPU NUMA ID is a NUMA node made of the GPU's own memory, which a machine file does not describe.
  [[nodiscard]] std::string affinity(PciId gpu) const {
    auto const& numa = machine_.at(machine_.numa_of(gpu));
    return fmt::format("{}\t{}\t\tN/A", numa.cores.empty() ? "N/A" : numa.cores, numa.os_index);
  }

  [[nodiscard]] std::string nic_legend() const {
    if (nics_.empty()) return "";
    std::string text = "\nNIC Legend:\n\n";
    for (std::size_t i = 0; i < nics_.size(); ++i) {
      auto const& nic = machine_.at(nics_[i]);
      text += fmt::format("  NIC{}: {}\n", i, nic.device_name.empty() ? nic.name : nic.device_name);
    }
    return text + "\n";
  }

  // Not in the tool: the device that a column stands for, if the name in the file differs.
  [[nodiscard]] std::string gpu_legend() const {
    std::string lines;
    bool differs = false;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      auto const& name = machine_.at(gpus_[i]).name;
      differs = differs || name != fmt::format("gpu{}", i);
      lines += fmt::format("  GPU{}: {}\n", i, name);
    }
    if (!differs) return "";
    return fmt::format("{}GPU Legend:\n\n{}\n", nics_.empty() ? "\n" : "", lines);
  }

  Machine const& machine_;
  std::vector<PciId> gpus_;
  std::vector<PciId> nics_;
};

}  // namespace

std::string topo_matrix(Machine const& machine) {
  if (machine.hosts.size() == 1) return TopoView(machine).text();
  std::string out;
  for (auto const& kind : node_kinds(machine))
    out += fmt::format("{}{} ({}):\n\n{}", out.empty() ? "" : "\n", host_names(machine, kind.hosts), kind.machine.name,
                       TopoView(kind.machine).text());
  return out;
}

}  // namespace lanewise
