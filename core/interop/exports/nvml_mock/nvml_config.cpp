// The configuration of NVIDIA's mock of NVML: k8s-test-infra, docs/mocknvml/configuration.md. What a machine file does
// not say (clocks, power, ECC, the driver's version) is left to the mock's defaults.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "core/interop/exports/exported_ids.hpp"
#include "core/interop/exports/nvml_mock/mock_system.hpp"
#include "core/machine/path_class.hpp"

namespace lanewise {
namespace {

using Tree = nlohmann::ordered_json;

std::string architecture(std::string const& capability) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNames{{{"12.", "blackwell"},
                                                                                 {"10.", "blackwell"},
                                                                                 {"9.", "hopper"},
                                                                                 {"8.9", "ada"},
                                                                                 {"8.", "ampere"},
                                                                                 {"7.5", "turing"},
                                                                                 {"7.", "volta"},
                                                                                 {"6.", "pascal"}}};
  for (auto const& [start, name] : kNames)
    if (capability.starts_with(start)) return std::string(name);
  return {};
}

class NvmlConfigWriter {
 public:
  explicit NvmlConfigWriter(Machine const& machine)
      : machine_(machine), layout_(pci_layout(machine)), gpus_(machine.all(PciKind::Gpu)) {}

  std::string write() {
    Tree tree{{"version", "1.0"}, {"system", {{"num_devices", gpus_.size()}}}};
    tree["device_defaults"] = gpus_.empty() ? Tree::object() : product(gpus_.front());
    tree["devices"] = Tree::array();
    for (std::size_t i = 0; i < gpus_.size(); ++i) tree["devices"].push_back(device(i));
    if (auto links = nvlink(); !links.empty()) tree["nvlink"] = std::move(links);
    tree["pcie_topology"] = topology();
    // JSON, which is YAML: other readers would take a plain 1.0 for a number.
    return tree.dump(2) + "\n";
  }

 private:
  [[nodiscard]] Tree product(PciId id) const {
    Tree tree;
    auto const* part = machine_.part_of(id);
    if (part == nullptr) return Tree::object();
    tree["name"] = part->title.empty() ? part->name : part->title;
    auto const& capability = part->gpu.compute_capability;
    if (auto name = architecture(capability); !name.empty()) tree["architecture"] = name;
    if (auto const dot = capability.find('.'); dot != std::string::npos)
      tree["compute_capability"] = {{"major", number(capability.substr(0, dot))},
                                    {"minor", number(capability.substr(dot + 1))}};
    if (part->gpu.memory) tree["memory"] = {{"total_bytes", part->gpu.memory->value()}};
    if (part->gpu.bar1) tree["bar1_memory"] = {{"total_bytes", part->gpu.bar1->value()}};
    return tree;
  }
  static int number(std::string const& text) {
    int value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  [[nodiscard]] Tree device(std::size_t i) const {
    auto const id = gpus_[i];
    auto const& function = machine_.at(id);
    Tree tree{{"index", i}, {"uuid", fmt::format("GPU-00000000-0000-0000-0000-{:012x}", i)}, {"minor_number", i}};
    if (i > 0 && function.part != machine_.at(gpus_.front()).part) tree.update(product(id));
    for (auto const& entry : layout_.functions)
      if (entry.function == id && entry.port == ExportedPort::Endpoint) tree["pci"] = pci(entry);
    auto const link = function.link ? function.link : assumed_link(machine_, id);
    auto const best = function.max_link ? function.max_link : link;
    if (link && best)
      tree["pcie"] = {{"max_link_gen", best->generation},
                      {"current_link_gen", link->generation},
                      {"max_link_width", best->width},
                      {"current_link_width", link->width}};
    if (function.mig) tree["mig"] = {{"mode_current", "enabled"}, {"mode_pending", "enabled"}};
    return tree;
  }
  [[nodiscard]] Tree pci(ExportedFunction const& entry) const {
    auto const ids = exported_ids(machine_, entry);
    unsigned vendor = 0;
    unsigned device = 0;
    std::from_chars(ids.id.data(), ids.id.data() + 4, vendor, 16);
    std::from_chars(ids.id.data() + 5, ids.id.data() + 9, device, 16);
    return {{"bus_id", entry.bdf}, {"device_id", device << 16U | vendor}};
  }

  [[nodiscard]] std::size_t number_of(PciId gpu) const {
    for (std::size_t i = 0; i < gpus_.size(); ++i)
      if (gpus_[i] == gpu) return i;
    return 0;
  }

  // Every single link: number, kind of what is at its other end, and its address.
  [[nodiscard]] Tree nvlink() const {
    std::map<std::size_t, Tree> links;
    std::optional<PartId> part;
    bool c2c = false;
    auto const add = [&](std::size_t gpu, int count, Tree const& remote) {
      auto& list = links.try_emplace(gpu, Tree::array()).first->second;
      for (int i = 0; i < count; ++i) {
        Tree link{{"link", list.size()}, {"state", "active"}};
        link.update(remote);
        list.push_back(std::move(link));
      }
    };
    for (auto const& bundle : machine_.nvlinks) {
      auto const* a = std::get_if<PciId>(&bundle.a);
      auto const* b = std::get_if<PciId>(&bundle.b);
      auto const family = machine_.at(bundle.part).link.family;
      if (family == LinkFamily::C2c) c2c = true;
      if (family != LinkFamily::NvLink) continue;
      part = bundle.part;
      for (auto const& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
        if (from == nullptr) continue;
        add(number_of(*from), bundle.count,
            to == nullptr ? Tree{{"remote_device_type", "cpu"}}
                          : Tree{{"remote_device_type", "gpu"},
                                 {"remote_pci_bus_id", address_of(layout_, *to)},
                                 {"remote_index", number_of(*to)}});
      }
    }
    constexpr auto* kSwitch = "0000:fe:00.0";
    for (auto const& domain : machine_.nvswitches)
      for (auto const& port : domain.ports) {
        part = domain.link_part;
        add(number_of(port.gpu), port.count, {{"remote_device_type", "switch"}, {"remote_pci_bus_id", kSwitch}});
      }
    Tree tree;
    if (c2c) tree["c2c_enabled"] = true;
    if (!part) return tree;
    auto const& figures = machine_.at(*part).link;
    tree["version"] = figures.generation;
    std::size_t most = 0;
    for (auto const& [gpu, list] : links) most = std::max(most, list.size());
    tree["links_per_gpu"] = most;
    constexpr double kBytesPerMegabyte = 1e6;
    if (figures.rate) tree["bandwidth_per_link_mbps"] = static_cast<int>(figures.rate->value() / kBytesPerMegabyte);
    if (!machine_.nvswitches.empty())
      tree["switches"] = Tree::array({{{"bdf", kSwitch}, {"uuid", "NVSwitch-00000000-0000-0000-0000-000000000000"}}});
    tree["device_links"] = Tree::array();
    for (auto& [gpu, list] : links) tree["device_links"].push_back({{"index", gpu}, {"links", std::move(list)}});
    return tree;
  }

  [[nodiscard]] Tree topology() const {
    Tree list = Tree::array();
    for (std::size_t i = 0; i < machine_.host_bridges.size(); ++i) {
      auto const& numa = machine_.at(machine_.host_bridges[i].numa);
      Tree devices = Tree::array();
      for (auto const gpu : gpus_)
        if (index(machine_.at(gpu).host_bridge) == i) devices.push_back(address_of(layout_, gpu));
      if (devices.empty()) continue;
      Tree item{{"id", "pci" + layout_.root_buses[i]}, {"numa_node", numa.os_index}, {"devices", std::move(devices)}};
      if (!numa.cores.empty()) item["cpu_affinity"] = numa.cores;
      list.push_back(std::move(item));
    }
    return {{"root_complexes", std::move(list)}};
  }

  Machine const& machine_;
  PciLayout layout_;
  std::vector<PciId> gpus_;
};

}  // namespace

std::string mock_nvml_config(Machine const& machine) { return NvmlConfigWriter(machine).write(); }

}  // namespace lanewise
