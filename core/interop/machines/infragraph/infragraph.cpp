#include "core/interop/machines/infragraph/infragraph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/interop/machines/infragraph/document.hpp"
#include "core/interop/machines/infragraph/graph.hpp"
#include "core/interop/machines/infragraph/link_texts.hpp"
#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/words.hpp"
#include "core/io/error.hpp"
#include "core/units/text.hpp"

namespace lanewise {
namespace {

class InfraImporter {
 public:
  InfraImporter(InfraGraph const& graph, std::string name, TopoOptions parts, Catalogue& catalogue)
      : graph_(graph),
        builder_(std::move(name), catalogue),
        parts_(std::move(parts)),
        above_(graph.nodes.size()),
        ids_(graph.nodes.size()) {
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
      around_[graph.edges[i].a].push_back(i);
      around_[graph.edges[i].b].push_back(i);
    }
  }

  Machine import() {
    builder_.note("the file does not say: ACS, IOMMU, NUMA nodes, root ports, addresses");
    make_tree();
    number_sockets();
    for (auto const socket : sockets_) add_socket(socket);
    if (sockets_.empty()) add_unknown_socket();
    add_socket_links();
    add_gpu_links();
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

  std::string part_of(InfraNode const& node, PartKind kind, std::string const& named) {
    if (!named.empty()) return named;
    auto const [known, is_new] = described_.try_emplace({kind, node.description});
    if (is_new) known->second = described_part(kind, node.description);
    return known->second;
  }

  // The part whose name the description begins with, or whose title it is.
  std::string described_part(PartKind kind, std::string const& description) {
    auto const word = description.substr(0, description.find_first_of(":; "));
    auto& catalogue = builder_.catalogue();
    if (auto const* part = catalogue.part(word); part != nullptr && part->kind == kind) return word;
    for (auto const& name : catalogue.part_names())
      if (auto const* part = catalogue.part(name);
          part->kind == kind && !part->title.empty() && part->title == description)
        return name;
    return {};
  }

  void add_socket(std::size_t node) {
    auto const number = static_cast<int>(index_of(node));
    auto const socket = builder_.add_socket(part_of(at(node), PartKind::Cpu, parts_.cpu), number, {});
    socket_ids_[node] = socket;
    for (auto const child : below_[node]) add_top(child, socket);
    if (number == 0)
      for (auto const child : unplaced_) add_top(child, socket);
  }
  void add_unknown_socket() {
    builder_.note("the file has no CPU; one of unknown product stands for it");
    auto const socket = builder_.add_socket(parts_.cpu, 0, {});
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
    auto const [of, named] = part_kind(kind);
    auto const part = part_of(at(node), of, named);
    if (part.empty()) unknown_.insert(std::string(to_string(kind)));
    function.part = builder_.part(part, of);
    auto const id = builder_.add(std::move(function));
    ids_[node] = id;
    for (auto const child : below_[node]) add_below(child, id, bridge);
  }
  [[nodiscard]] std::pair<PartKind, std::string> part_kind(PciKind kind) const {
    switch (kind) {
      case PciKind::Gpu: return {PartKind::Gpu, parts_.gpu};
      case PciKind::Nic: return {PartKind::Nic, parts_.nic};
      case PciKind::Switch: return {PartKind::Switch, {}};
      case PciKind::Nvme: return {PartKind::Nvme, {}};
      default: return {PartKind::Device, {}};
    }
  }

  // Edges between CPUs whose link is one of the catalogue's; else the usual ones of such CPUs.
  void add_socket_links() {
    for (auto const& kind : unknown_)
      builder_.note(fmt::format("the file names no known product for its {}s; left unknown", kind));
    std::map<std::pair<SocketId, SocketId>, InfraLink const*> pairs;
    for (auto const& edge : graph_.edges)
      if (socket_ids_.contains(edge.a) && socket_ids_.contains(edge.b) && catalogue_link(edge.link) != nullptr)
        pairs.emplace(std::minmax(socket_ids_[edge.a], socket_ids_[edge.b]), edge.link);
    for (auto const& [ends, link] : pairs) {
      auto const* part = catalogue_link(link);
      builder_.add_socket_link(ends.first, ends.second, part->name, links_in_bond(link, part));
    }
    if (pairs.empty()) builder_.add_usual_socket_links();
  }

  // The catalogue's link whose name the description begins with.
  Part const* catalogue_link(InfraLink const* link) {
    if (link == nullptr) return nullptr;
    auto const* part = builder_.catalogue().part(link->description.substr(0, link->description.find_first_of(": ")));
    return part != nullptr && part->kind == PartKind::Link ? part : nullptr;
  }

  // What one NVLink of the accelerator is, where its product is known.
  Part const* nvlink_of(std::size_t gpu, InfraLink const* link) {
    if (auto const* part = catalogue_link(link)) return part;
    auto const* part = builder_.machine().part_of(*ids_[gpu]);
    return part == nullptr || part->gpu.nvlink_generation == 0
               ? nullptr
               : builder_.catalogue().part(fmt::format("nvlink-{}", part->gpu.nvlink_generation));
  }

  // Enters the link's part. Parts must be entered in the order in which the machine's file names them.
  PartId enter_link(std::size_t gpu, InfraLink const* link) {
    if (auto const* part = catalogue_link(link)) return builder_.part_or_stand_in(part->name, PartKind::Link);
    auto const words = link == nullptr ? std::string() : lower_case(link->name + link->description);
    if (words.find("xgmi") != std::string::npos)
      return builder_.part_or_stand_in("xgmi-gpu-unknown", PartKind::Link, LinkFamily::GpuXgmi);
    auto const* part = builder_.machine().part_of(*ids_[gpu]);
    return builder_.nvlink_part(part == nullptr ? 0 : part->gpu.nvlink_generation,
                                part == nullptr ? std::string() : part->gpu.chip);
  }

  struct Bond {
    InfraLink const* link = nullptr;
    int count = 0;
  };
  void add_to(Bond& bond, std::size_t gpu, InfraLink const* link) {
    if (bond.count == 0) bond.link = link;
    bond.count = std::min(1024, bond.count + links_in_bond(link, nvlink_of(gpu, link)));
  }

  void add_gpu_links() {
    std::map<std::pair<std::size_t, std::size_t>, Bond> pairs;
    std::map<std::size_t, Bond> to_switch;
    std::map<std::size_t, Bond> to_cpu;
    for (auto const& edge : graph_.edges) {
      auto const [a, b] = std::minmax(edge.a, edge.b);
      bool const gpu_a = at(a).kind == InfraKind::Xpu && ids_[a];
      bool const gpu_b = at(b).kind == InfraKind::Xpu && ids_[b];
      if (gpu_a && gpu_b) {
        add_to(pairs[{a, b}], a, edge.link);
      } else if (gpu_a || gpu_b) {
        auto const gpu = gpu_a ? a : b;
        auto const end = gpu_a ? b : a;
        // A switch that no CPU reaches is one of NVLink.
        bool const is_switch = at(end).kind == InfraKind::Switch || at(end).kind == InfraKind::Custom;
        if (is_switch && above_[end].node == kNone) add_to(to_switch[gpu], gpu, edge.link);
        if (at(end).kind == InfraKind::Cpu && joins_gpus(edge.link)) add_to(to_cpu[gpu], gpu, edge.link);
      }
    }
    for (auto const& [ends, bond] : pairs)
      builder_.add_nvlink(*ids_[ends.first], *ids_[ends.second], enter_link(ends.first, bond.link), bond.count);
    for (auto const& [gpu, bond] : to_cpu)
      builder_.add_nvlink(*ids_[gpu], builder_.machine().socket_of(*ids_[gpu]), enter_link(gpu, bond.link), bond.count);
    add_nvswitch(to_switch);
  }

  void add_nvswitch(std::map<std::size_t, Bond> const& to_switch) {
    std::vector<NvSwitch::Port> ports;
    int generation = 0;
    for (auto const& [gpu, bond] : to_switch) {
      auto const* part = builder_.machine().part_of(*ids_[gpu]);
      if (part != nullptr) generation = part->gpu.nvlink_generation;
      ports.push_back({*ids_[gpu], bond.count});
    }
    std::sort(ports.begin(), ports.end(), [](auto const& a, auto const& b) { return a.gpu < b.gpu; });
    if (!ports.empty()) builder_.add_nvswitch(generation, std::move(ports));
  }

  struct Above {
    std::size_t node = 0, edge = 0;
  };
  InfraGraph const& graph_;
  MachineBuilder builder_;
  TopoOptions parts_;
  std::map<std::size_t, std::vector<std::size_t>> around_;  // edges, by node
  std::vector<Above> above_;
  std::map<std::size_t, std::vector<std::size_t>> below_;
  std::vector<std::size_t> sockets_, unplaced_;
  std::map<std::size_t, SocketId> socket_ids_;
  std::vector<std::optional<PciId>> ids_;
  std::set<std::string> unknown_;
  std::map<std::pair<PartKind, std::string>, std::string> described_;  // parts by the descriptions of nodes
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
  if (has("lanewise:") || !has("devices") || !has("components")) return Likeness::None;
  if (has("ep1") && has("ep2")) return Likeness::Certain;
  return has("connections") && has("links") ? Likeness::Likely : Likeness::None;
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
