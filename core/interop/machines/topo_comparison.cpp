#include "core/interop/machines/topo_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/machine/path_class.hpp"

namespace lanewise {
namespace {

std::string text_of(TopoMatrix::Cell const& cell) {
  return cell.path ? std::string(to_string(*cell.path)) : fmt::format("NV{}", cell.nvlinks);
}

class TopoComparison {
 public:
  TopoComparison(Machine const& machine, TopoMatrix const& matrix) : machine_(machine), matrix_(matrix) {}

  std::vector<TopoDifference> differences() {
    for (auto const& device : matrix_.devices) found_.push_back(find(device));
    for (std::size_t a = 0; a < found_.size(); ++a) {
      compare_device(a);
      for (std::size_t b = a + 1; b < found_.size(); ++b) compare_pair(a, b);
    }
    auto const gpus = machine_.all(PciKind::Gpu).size();
    auto const listed = static_cast<std::size_t>(
        std::count_if(matrix_.devices.begin(), matrix_.devices.end(), [](auto const& device) { return device.gpu; }));
    if (gpus > listed) differ("GPUs", fmt::format("nvidia-smi lists {}, the machine has {}", listed, gpus));
    return std::move(differences_);
  }

 private:
  void differ(std::string subject, std::string text) { differences_.push_back({std::move(subject), std::move(text)}); }

  [[nodiscard]] std::optional<PciId> find(TopoMatrix::Device const& device) const {
    if (device.gpu) {
      auto const id = machine_.find_function("gpu" + device.label.substr(3));
      return id && machine_.at(*id).kind == PciKind::Gpu ? id : std::nullopt;
    }
    if (device.device_name.empty()) return find_numbered_nic(device.label);
    for (auto const id : machine_.all(PciKind::Nic))
      if (machine_.at(id).device_name == device.device_name) return id;
    return std::nullopt;
  }

  // A table without a legend names its NICs only by number.
  [[nodiscard]] std::optional<PciId> find_numbered_nic(std::string const& label) const {
    auto const id = machine_.find_function("nic" + label.substr(3));
    return id && machine_.at(*id).kind == PciKind::Nic ? id : std::nullopt;
  }

  void compare_device(std::size_t i) {
    auto const& device = matrix_.devices[i];
    if (!found_[i]) {
      auto const name = device.device_name.empty() ? device.label : device.device_name;
      return differ(name, device.gpu ? "nvidia-smi lists it, the machine does not have it"
                                     : "nvidia-smi lists it, no NIC of the machine has this name; a further port of an "
                                       "adapter is part of its first");
    }
    if (!device.gpu) return;
    auto const& numa = machine_.at(machine_.numa_of(*found_[i]));
    auto const& name = machine_.at(*found_[i]).name;
    if (device.numa && *device.numa != numa.os_index)
      differ(name, fmt::format("nvidia-smi says NUMA node {}, the machine {}", *device.numa, numa.os_index));
    if (!device.cores.empty() && !numa.cores.empty() && device.cores != numa.cores)
      differ(name, fmt::format("nvidia-smi says cores {}, the machine {}", device.cores, numa.cores));
  }

  void compare_pair(std::size_t a, std::size_t b) {
    if (!found_[a] || !found_[b]) return;
    auto const ours = path_between(machine_, *found_[a], *found_[b]);
    if (!matrix_.at(a, b).shown) return;  // the author cut it
    auto const theirs = text_of(matrix_.at(a, b));
    if (ours != theirs)
      differ(fmt::format("{} > {}", machine_.at(*found_[a]).name, machine_.at(*found_[b]).name),
             fmt::format("nvidia-smi says {}, the machine {}", theirs, ours));
  }

  Machine const& machine_;
  TopoMatrix const& matrix_;
  std::vector<std::optional<PciId>> found_;  // by device of the table
  std::vector<TopoDifference> differences_;
};

}  // namespace

std::vector<TopoDifference> topo_differences(Machine const& machine, TopoMatrix const& matrix) {
  return TopoComparison(machine, matrix).differences();
}

}  // namespace lanewise
