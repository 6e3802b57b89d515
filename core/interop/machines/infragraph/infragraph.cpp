#include "core/interop/machines/infragraph/infragraph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/interop/machines/infragraph/document.hpp"
#include "core/interop/machines/infragraph/gpu_links.hpp"
#include "core/interop/machines/infragraph/graph.hpp"
#include "core/interop/machines/infragraph/link_texts.hpp"
#include "core/interop/machines/infragraph/parts.hpp"
#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/words.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

class InfraImporter {
 public:
  InfraImporter(InfraGraph const& graph, std::string name, TopoOptions const& parts, Catalogue& catalogue)
      : graph_(graph),
        builder_(std::move(name), catalogue),
        parts_(parts, builder_),
        above_(graph.nodes.size()),
        ids_(graph.nodes.size()) {
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
      around_[graph.edges[i].a].push_back(i);
      around_[graph.edges[i].b].push_back(i);
    }
  }

  Machine import() {
    builder_.note(
        "the file does not say: ACS, IOMMU, NUMA nodes, root ports, addresses, widths of PCIe links that it does not "
        "describe");
    make_tree();
    number_sockets();
    for (auto const socket : sockets_) add_socket(socket);
    if (sockets_.empty()) add_unknown_socket();
    add_socket_links();
    add_infra_gpu_links(graph_, placed(), builder_);
    builder_.check_nvlink_ports();
    return builder_.take();
  }
  void note(std::string text) { builder_.note(std::move(text)); }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  [[nodiscard]] InfraNode const& at(std::size_t node) const { return graph_.nodes[node]; }
  [[nodiscard]] std::size_t other(std::size_t edge, std::size_t node) const {
    return graph_.edges[edge].a == node ? graph_.edges[edge].b : graph_.edges[edge].a;
  }

  // Breadth first from the CPUs; endpoints end a branch.
  void make_tree() {
    std::fill(above_.begin(), above_.end(), Above{kNone, kNone});
    std::vector<std::size_t> queue;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (at(i).kind == InfraKind::Cpu) {
        sockets_.push_back(i);
        queue.push_back(i);
      }
    for (std::size_t next = 0; next < queue.size(); ++next) {
      auto const node = queue[next];
      for (auto const edge : around_[node]) {
        auto const child = other(edge, node);
        auto const kind = at(child).kind;
        if (kind == InfraKind::Cpu || kind == InfraKind::Memory || joins_gpus(graph_.edges[edge].link)) continue;
        if (above_[child].node != kNone) continue;
        above_[child] = {node, edge};
        below_[node].push_back(child);
        if (kind == InfraKind::Switch || kind == InfraKind::Custom) queue.push_back(child);
      }
    }
  }

  void number_sockets() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      bool const device = at(i).kind == InfraKind::Xpu || at(i).kind == InfraKind::Nic;
      if (device && above_[i].node == kNone) unplaced_.push_back(i);
    }
    if (!unplaced_.empty())
      builder_.note(
          fmt::format("{} accelerators and NICs are joined to no CPU in the file; put on root ports of the "
                      "first",
                      unplaced_.size()));
  }

  void add_socket(std::size_t node) {
    auto const number = static_cast<int>(index_of(node));
    auto const socket = builder_.add_socket(parts_.part_of(at(node), PartKind::Cpu), number, {});
    socket_ids_[node] = socket;
    for (auto const child : below_[node]) add_top(child, socket);
    if (number == 0)
      for (auto const child : unplaced_) add_top(child, socket);
  }
  void add_unknown_socket() {
    auto const socket = builder_.add_socket(parts_.absent_cpu(), 0, {});
    for (auto const child : unplaced_) add_top(child, socket);
  }
  [[nodiscard]] std::size_t index_of(std::size_t socket) const {
    return static_cast<std::size_t>(std::find(sockets_.begin(), sockets_.end(), socket) - sockets_.begin());
  }

  // A custom component between CPU and devices, with devices below, is a switch.
  [[nodiscard]] PciKind kind_of(std::size_t node) const {
    auto const found = below_.find(node);
    bool const inner = found != below_.end() && !found->second.empty();
    switch (at(node).kind) {
      case InfraKind::Xpu: return PciKind::Gpu;
      case InfraKind::Nic:
      case InfraKind::Port: return PciKind::Nic;
      case InfraKind::Switch: return PciKind::Switch;
      default: break;
    }
    if (inner) return PciKind::Switch;
    auto const words = lower_case(at(node).custom_type + " " + at(node).name);
    return words.find("nvme") != std::string::npos ? PciKind::Nvme : PciKind::Device;
  }

  void add_top(std::size_t node, SocketId socket) {
    auto const port = builder_.next_name(PciKind::RootPort);
    auto const& machine = builder_.machine();
    auto const* cpu = machine.part_of(socket);
    bool const own = cpu != nullptr && cpu->cpu.host_bridges == HostBridges::PerRootPort;
    auto const bridge = builder_.host_bridge(
        socket, own ? fmt::format("{}.hb-{}", machine.at(socket).name, port) : machine.at(socket).name + ".hb");
    add_below(node, builder_.add_root_port(port, bridge), bridge);
  }

  void add_below(std::size_t node, PciId parent, HostBridgeId bridge) {
    auto const kind = kind_of(node);
    PciFunction function;
    function.kind = kind;
    function.name = builder_.next_name(kind);
    function.parent = parent;
    function.host_bridge = bridge;
    function.link = above_[node].edge == kNone ? std::nullopt : pcie_link_of(graph_.edges[above_[node].edge].link);
    auto const of = part_kind(kind);
    function.part = builder_.part(parts_.part_of(at(node), of, function.link), of);
    auto const id = builder_.add(std::move(function));
    ids_[node] = id;
    for (auto const child : below_[node]) add_below(child, id, bridge);
  }
  static PartKind part_kind(PciKind kind) {
    switch (kind) {
      case PciKind::Gpu: return PartKind::Gpu;
      case PciKind::Nic: return PartKind::Nic;
      case PciKind::Switch: return PartKind::Switch;
      case PciKind::Nvme: return PartKind::Nvme;
      default: return PartKind::Device;
    }
  }

  // Edges between CPUs whose link is one of the catalogue's; else the usual ones of such CPUs.
  void add_socket_links() {
    std::map<std::pair<SocketId, SocketId>, InfraLink const*> pairs;
    for (auto const& edge : graph_.edges)
      if (socket_ids_.contains(edge.a) && socket_ids_.contains(edge.b) && known_link(edge.link) != nullptr)
        pairs.emplace(std::minmax(socket_ids_[edge.a], socket_ids_[edge.b]), edge.link);
    for (auto const& [ends, link] : pairs) {
      auto const* part = known_link(link);
      builder_.add_socket_link(ends.first, ends.second, part->name, links_in_bond(link, part));
    }
    if (pairs.empty()) builder_.add_usual_socket_links();
  }

  Part const* known_link(InfraLink const* link) { return catalogue_link(link, builder_.catalogue()); }

  [[nodiscard]] PlacedNodes placed() const {
    PlacedNodes placed{ids_, std::vector<bool>(above_.size())};
    for (std::size_t i = 0; i < above_.size(); ++i) placed.below_cpu[i] = above_[i].node != kNone;
    return placed;
  }

  struct Above {
    std::size_t node = 0, edge = 0;
  };
  InfraGraph const& graph_;
  MachineBuilder builder_;
  InfraParts parts_;
  std::map<std::size_t, std::vector<std::size_t>> around_;  // edges, by node
  std::vector<Above> above_;
  std::map<std::size_t, std::vector<std::size_t>> below_;
  std::vector<std::size_t> sockets_, unplaced_;
  std::map<std::size_t, SocketId> socket_ids_;
  std::vector<std::optional<PciId>> ids_;
};

int accelerators(InfraDevice const& device, Infrastructure const& all) {
  int count = 0;
  for (auto const& component : device.components) {
    auto const* inner = component.kind == InfraKind::Device ? all.find(component.name) : nullptr;
    bool const has = inner != nullptr && std::any_of(inner->components.begin(), inner->components.end(),
                                                     [](auto const& c) { return c.kind == InfraKind::Xpu; });
    if (component.kind == InfraKind::Xpu || has) count += component.count;
  }
  return count;
}

}  // namespace

Likeness recognise_infragraph(std::string_view text) {
  auto const has = [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; };
  if (has("lanewise:")) return Likeness::None;
  bool const devices = has("device") && has("components");
  if (devices && has("ep1") && has("ep2")) return Likeness::Certain;
  // The older schema, which is refused by its name.
  bool const older = has("connections") || has("type: cpu") || has("type: xpu");
  return older && (devices || (has("infrastructure") && has("instances"))) ? Likeness::Likely : Likeness::None;
}

Machine read_infragraph(SourceText const& source, TopoOptions const& parts, Catalogue& catalogue) {
  auto const all = read_infrastructure(source);
  auto const fullest = std::max_element(
      all.devices.begin(), all.devices.end(),
      [&](InfraDevice const& a, InfraDevice const& b) { return accelerators(a, all) < accelerators(b, all); });
  bool const has_host = fullest != all.devices.end() &&
                        std::any_of(fullest->components.begin(), fullest->components.end(), [](auto const& c) {
                          return c.kind == InfraKind::Cpu || c.kind == InfraKind::Xpu || c.kind == InfraKind::Nic ||
                                 c.kind == InfraKind::Device;
                        });
  if (!has_host)
    throw InputError(fmt::format("{}: no device of the file has a CPU, an accelerator (xpu) or a NIC", source.name()));
  auto const graph = expand(*fullest, all, source);
  InfraImporter importer(graph, machine_name_from(fullest->name), parts, catalogue);
  if (all.devices.size() > 1 || all.network_edges > 0) {
    auto const count = all.instances.find(fullest->name);
    importer.note(fmt::format(
        "this is device '{}', of which the file has {}; its {} other devices and {} edges between "
        "instances (the network) are left out",
        fullest->name, count == all.instances.end() ? 0 : count->second, all.devices.size() - 1, all.network_edges));
  }
  return importer.import();
}

}  // namespace lanewise
