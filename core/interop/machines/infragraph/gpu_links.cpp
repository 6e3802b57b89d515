#include "core/interop/machines/infragraph/gpu_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/interop/machines/infragraph/link_texts.hpp"
#include "core/interop/words.hpp"

namespace lanewise {
namespace {

class GpuLinks {
 public:
  GpuLinks(InfraGraph const& graph, PlacedNodes const& placed, MachineBuilder& builder)
      : graph_(graph), placed_(placed), builder_(builder) {}

  void add() {
    for (auto const& edge : graph_.edges) count(edge);
    for (auto const& [ends, bond] : pairs_)
      builder_.add_nvlink(id(ends.first), id(ends.second), enter_link(ends.first, bond.link), bond.count);
    for (auto const& [gpu, bond] : to_cpu_)
      builder_.add_nvlink(id(gpu), builder_.machine().socket_of(id(gpu)), enter_link(gpu, bond.link), bond.count);
    add_nvswitch();
  }

 private:
  struct Bond {
    InfraLink const* link = nullptr;
    int count = 0;
  };

  [[nodiscard]] InfraKind kind(std::size_t node) const { return graph_.nodes[node].kind; }
  [[nodiscard]] PciId id(std::size_t gpu) const { return *placed_.functions[gpu]; }
  [[nodiscard]] bool is_gpu(std::size_t node) const {
    return kind(node) == InfraKind::Xpu && placed_.functions[node].has_value();
  }

  void count(InfraGraphEdge const& edge) {
    auto const [a, b] = std::minmax(edge.a, edge.b);
    if (is_gpu(a) && is_gpu(b)) return add_to(pairs_[{a, b}], a, edge.link);
    if (!is_gpu(a) && !is_gpu(b)) return;
    auto const gpu = is_gpu(a) ? a : b;
    auto const end = is_gpu(a) ? b : a;
    // A switch that no CPU reaches is one of NVLink.
    bool const is_switch = kind(end) == InfraKind::Switch || kind(end) == InfraKind::Custom;
    if (is_switch && !placed_.below_cpu[end]) add_to(to_switch_[gpu], gpu, edge.link);
    if (kind(end) == InfraKind::Cpu && joins_gpus(edge.link)) add_to(to_cpu_[gpu], gpu, edge.link);
  }

  void add_to(Bond& bond, std::size_t gpu, InfraLink const* link) {
    if (bond.count == 0) bond.link = link;
    bond.count = std::min(1024, bond.count + links_in_bond(link, nvlink_of(gpu, link)));
  }

  // What one NVLink of the accelerator is, where its product is known.
  Part const* nvlink_of(std::size_t gpu, InfraLink const* link) {
    if (auto const* part = catalogue_link(link, builder_.catalogue())) return part;
    auto const* part = builder_.machine().part_of(id(gpu));
    return part == nullptr || part->gpu.nvlink_generation == 0
               ? nullptr
               : builder_.catalogue().part(fmt::format("nvlink-{}", part->gpu.nvlink_generation));
  }

  // Enters the link's part. Parts must be entered in the order in which the machine's file names them.
  PartId enter_link(std::size_t gpu, InfraLink const* link) {
    if (auto const* part = catalogue_link(link, builder_.catalogue()))
      return builder_.part_or_stand_in(part->name, PartKind::Link);
    auto const words = link == nullptr ? std::string() : lower_case(link->name + link->description);
    if (words.find("xgmi") != std::string::npos) return builder_.gpu_xgmi_part(builder_.machine().part_of(id(gpu)));
    auto const* part = builder_.machine().part_of(id(gpu));
    return builder_.nvlink_part(part == nullptr ? 0 : part->gpu.nvlink_generation,
                                part == nullptr ? std::string() : part->gpu.chip);
  }

  void add_nvswitch() {
    std::vector<NvSwitch::Port> ports;
    int generation = 0;
    for (auto const& [gpu, bond] : to_switch_) {
      auto const* part = builder_.machine().part_of(id(gpu));
      if (part != nullptr) generation = part->gpu.nvlink_generation;
      ports.push_back({id(gpu), bond.count});
    }
    std::sort(ports.begin(), ports.end(), [](auto const& a, auto const& b) { return a.gpu < b.gpu; });
    if (!ports.empty()) builder_.add_nvswitch(generation, std::move(ports));
  }

  InfraGraph const& graph_;
  PlacedNodes const& placed_;
  MachineBuilder& builder_;
  std::map<std::pair<std::size_t, std::size_t>, Bond> pairs_;
  std::map<std::size_t, Bond> to_switch_, to_cpu_;
};

}  // namespace

Part const* catalogue_link(InfraLink const* link, Catalogue& catalogue) {
  if (link == nullptr) return nullptr;
  auto const* part = catalogue.part(link->description.substr(0, link->description.find_first_of(": ")));
  return part != nullptr && part->kind == PartKind::Link ? part : nullptr;
}

void add_infra_gpu_links(InfraGraph const& graph, PlacedNodes const& placed, MachineBuilder& builder) {
  GpuLinks(graph, placed, builder).add();
}

}  // namespace lanewise
