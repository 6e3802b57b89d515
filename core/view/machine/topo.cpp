#include "core/view/machine/topo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/machine/device_order.hpp"
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
  explicit TopoView(Machine const& machine) : machine_(machine), gpus_(all_in_number_order(machine, PciKind::Gpu)) {
    for (auto const id : all_in_number_order(machine, PciKind::Nic))
      if (has_rdma_device(id)) nics_.push_back(id);
    gpu_labels_ = labels(gpus_, "gpu", "GPU");
    nic_labels_ = labels(nics_, "nic", "NIC");
  }

  [[nodiscard]] std::string text() const {
    std::string out = header();
    for (std::size_t i = 0; i < gpus_.size(); ++i)
      out += fmt::format("{}{}\t{}\n", gpu_labels_[i], cells(gpus_[i]), affinity(gpus_[i]));
    for (std::size_t i = 0; i < nics_.size(); ++i)
      out += fmt::format("{}{}\t\t\t\t\n", nic_labels_[i], cells(nics_[i]));
    return out + std::string(kLegend) + nic_legend() + gpu_legend();
  }

 private:
  // The names of columns: with the devices' own numbers where every device has one, else counted.
  [[nodiscard]] std::vector<std::string> labels(std::vector<PciId> const& ids, std::string_view stem,
                                                std::string_view word) const {
    bool const own =
        std::all_of(ids.begin(), ids.end(), [&](PciId id) { return number_of(machine_, id, stem).has_value(); });
    std::vector<std::string> names;
    for (std::size_t i = 0; i < ids.size(); ++i)
      names.push_back(fmt::format("{}{}", word, own ? *number_of(machine_, ids[i], stem) : static_cast<int>(i)));
    return names;
  }

  // The tool lists the devices in /sys/class/infiniband. If the part of a NIC is unknown, only its device name can
  // tell.
  [[nodiscard]] bool has_rdma_device(PciId id) const {
    auto const* part = machine_.part_of(id);
    return part != nullptr ? part->nic.rdma : !machine_.at(id).device_name.empty();
  }

  [[nodiscard]] std::string header() const {
    std::string line;
    for (auto const* names : {&gpu_labels_, &nic_labels_})
      for (auto const& label : *names) line += "\t" + label;
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

  [[nodiscard]] std::string affinity(PciId gpu) const {
    auto const& numa = machine_.at(machine_.numa_of(gpu));
    auto const& memory = machine_.at(gpu).memory_numa;
    return fmt::format("{}\t{}\t\t{}", numa.cores.empty() ? "N/A" : numa.cores, numa.os_index,
                       memory ? std::to_string(*memory) : "N/A");
  }

  // NICs that have neither a name in the system nor another number than their column are not in it.
  [[nodiscard]] std::string nic_legend() const {
    std::string lines;
    for (std::size_t i = 0; i < nics_.size(); ++i) {
      auto const& nic = machine_.at(nics_[i]);
      if (nic.device_name.empty() && nic.name == "nic" + nic_labels_[i].substr(3)) continue;
      lines += fmt::format("  {}: {}\n", nic_labels_[i], nic.device_name.empty() ? nic.name : nic.device_name);
    }
    return lines.empty() ? "" : fmt::format("\nNIC Legend:\n\n{}\n", lines);
  }

  // Not in the tool: the device that a column stands for, if the name in the file differs.
  [[nodiscard]] std::string gpu_legend() const {
    std::string lines;
    bool differs = false;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      auto const& name = machine_.at(gpus_[i]).name;
      differs = differs || name != "gpu" + gpu_labels_[i].substr(3);
      lines += fmt::format("  {}: {}\n", gpu_labels_[i], name);
    }
    if (!differs) return "";
    return fmt::format("{}GPU Legend:\n\n{}\n", nic_legend().empty() ? "\n" : "", lines);
  }

  Machine const& machine_;
  std::vector<PciId> gpus_;
  std::vector<PciId> nics_;
  std::vector<std::string> gpu_labels_;
  std::vector<std::string> nic_labels_;
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
