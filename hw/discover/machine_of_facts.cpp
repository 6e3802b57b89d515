// Lowers the facts into a Machine, in the order of a machine file.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "core/interop/machines/machine_builder.hpp"
#include "hw/discover/device_parts.hpp"
#include "hw/discover/discovery.hpp"
#include "hw/discover/gpu_links.hpp"
#include "hw/discover/host_settings.hpp"
#include "hw/discover/pci_tree.hpp"

namespace lanewise::hw {
namespace {

using Node = PciTree::Node;

class Assembler {
 public:
  Assembler(Facts const& facts, std::string name, std::optional<std::vector<Role>> const& roles, Catalogue& catalogue)
      : facts_(facts),
        has_roles_(roles.has_value()),
        builder_(std::move(name), catalogue, "the system"),
        tree_(make_pci_tree(facts, roles, catalogue)) {
    if (roles)
      for (auto const& role : *roles) taken_.insert(role.name);
  }

  Machine assemble() {
    for (auto const& note : facts_.notes) builder_.note(note);
    for (auto const& note : tree_.notes) builder_.note(note);
    number_gpus();
    add_sockets();
    builder_.add_usual_socket_links();
    add_gpu_links(facts_, gpus_, builder_);
    describe_platform();
    note_what_is_hidden();
    auto machine = builder_.take();
    machine.title = facts_.platform.product;
    settle_acs(machine);
    settle_cliques(machine);
    return machine;
  }

 private:
  [[nodiscard]] Node const& at(std::size_t node) const { return tree_.nodes[node]; }
  [[nodiscard]] bool is_guest() const {
    return !has_roles_ && (facts_.cpu.hypervisor || !facts_.platform.hypervisor.empty());
  }

  // What decides how packets travel is the host's.
  [[nodiscard]] bool is_hidden() const { return !has_roles_ && (is_guest() || !flat_.empty()); }

  // In the order of nvidia-smi, which is that of their addresses.
  void number_gpus() {
    std::vector<std::string> addresses;
    for (auto const& node : tree_.nodes)
      if (node.kind == PciKind::Gpu) addresses.push_back(node.facts.bdf);
    std::sort(addresses.begin(), addresses.end());
    for (std::size_t i = 0; i < addresses.size(); ++i) gpu_names_[addresses[i]] = fmt::format("gpu{}", i);
  }

  // ------------------------------------------------------------------------------------------------------- sockets
  // NUMA nodes by socket. A node that spans sockets (memory interleaved by the firmware) makes one socket of them.
  [[nodiscard]] std::vector<std::vector<NumaFacts const*>> sockets() {
    std::map<int, std::vector<NumaFacts const*>> by_package;
    for (auto const& node : facts_.cpu.nodes) {
      by_package[node.packages.empty() ? 0 : node.packages.front()].push_back(&node);
      if (node.packages.size() > 1)
        builder_.note(fmt::format("NUMA node {} spans {} sockets (interleaved memory); described as one socket",
                                  node.node, node.packages.size()));
    }
    std::vector<std::vector<NumaFacts const*>> sockets;
    for (auto& [package, nodes] : by_package) sockets.push_back(std::move(nodes));
    return sockets;
  }

  void add_sockets() {
    auto const by_socket = sockets();
    bool first = true;
    for (auto const& nodes : by_socket) {
      auto const socket = builder_.add_socket(cpu_part(facts_, builder_), nodes.front()->node, nodes.front()->cores);
      for (auto const* node : std::span(nodes).subspan(1)) builder_.add_numa(socket, node->node, node->cores);
      for (auto const top : tree_.tops)
        if (at(top).wanted && belongs(top, nodes, first)) add_top(top, socket);
      if (first) add_devices_without_address(socket);
      first = false;
    }
  }

  // The NUMA node of a root bus: of the first function on it that says one; -1: none does.
  [[nodiscard]] int numa_of_bus(std::string const& bus) const {
    for (auto const& node : tree_.nodes)
      if (node.facts.root_bus == bus && node.facts.numa >= 0) return node.facts.numa;
    return -1;
  }

  bool belongs(std::size_t top, std::vector<NumaFacts const*> const& nodes, bool first) {
    auto const numa = numa_of_bus(at(top).facts.root_bus);
    auto const has = [&](NumaFacts const* node) { return node->node == numa; };
    if (std::any_of(nodes.begin(), nodes.end(), has)) return true;
    bool const known = std::any_of(facts_.cpu.nodes.begin(), facts_.cpu.nodes.end(),
                                   [&](NumaFacts const& node) { return node.node == numa; });
    if (known || !first) return false;
    if (facts_.cpu.nodes.size() > 1)
      builder_.note(
          fmt::format("the system does not say which NUMA node the devices of root bus {} are near; put on "
                      "node {}",
                      at(top).facts.root_bus, nodes.front()->node));
    return true;
  }

  HostBridgeId bridge_of(std::string const& bus, SocketId socket) {
    auto const numa = numa_of_bus(bus);
    auto name = "pci" + bus;
    std::replace(name.begin(), name.end(), ':', '-');
    auto const& nodes = builder_.machine().numa_nodes;
    auto const found = std::find_if(nodes.begin(), nodes.end(), [&](NumaNode const& node) {
      return node.socket == socket && node.os_index == numa;
    });
    return builder_.host_bridge(socket, name,
                                found == nodes.end() ? std::nullopt : std::optional(NumaId(found - nodes.begin())));
  }

  // ---------------------------------------------------------------------------------------------------------- tree
  std::string name_of(Node const& node, PciKind kind) {
    if (node.role != nullptr) return node.role->name;
    if (kind == PciKind::Gpu) return gpu_names_.at(node.facts.bdf);
    auto name = builder_.next_name(kind);
    while (taken_.contains(name)) name = builder_.next_name(kind);
    return name;
  }

  void add_top(std::size_t top, SocketId socket) {
    auto const& node = at(top);
    auto const bridge = bridge_of(node.facts.root_bus, socket);
    if (!node.facts.is_bridge()) {
      if (is_further_port(top, tree_.tops)) return;
      if (node.kind == PciKind::Gpu || has_rdma(node)) flat_.push_back(top);
      add_device(top, std::nullopt, std::nullopt, bridge, socket);
      return;
    }
    auto const port = builder_.add_root_port(name_of(node, PciKind::RootPort), bridge);
    add_below(top, port, bridge, socket);
  }

  // What hangs from a root port or a switch's downstream port: one device, or one switch.
  void add_below(std::size_t port, PciId parent, HostBridgeId bridge, SocketId socket) {
    bool full = false;
    for (auto const child : at(port).below) {
      if (!at(child).wanted || is_further_port(child, at(port).below)) continue;
      if (full) {
        builder_.note(fmt::format("{} shares its PCIe link with another device and is left out", at(child).facts.bdf));
        continue;
      }
      full = true;
      if (at(child).facts.is_bridge())
        add_switch(child, port, parent, bridge, socket);
      else
        add_device(child, port, parent, bridge, socket);
    }
  }

  void add_switch(std::size_t upstream, std::optional<std::size_t> port, PciId parent, HostBridgeId bridge,
                  SocketId socket) {
    if (auto const device = device_on_card(upstream)) return add_device(*device, port, parent, bridge, socket);
    auto const& node = at(upstream);
    PciFunction function;
    function.kind = PciKind::Switch;
    function.name = name_of(node, PciKind::Switch);
    describe(function, upstream, port, parent, bridge);
    auto const name = node.role != nullptr ? node.role->part : builder_.part_by_pci_id(node.facts.id, PartKind::Switch);
    function.part = builder_.part(name, PartKind::Switch);
    auto const id = builder_.add(std::move(function));
    for (auto const below : node.below) {
      if (!at(below).wanted) continue;
      if (!at(below).facts.is_bridge())
        add_device(below, std::nullopt, id, bridge, socket);  // a device of the switch itself
      else if (at(below).port == PortType::SwitchDownstream)
        add_below(below, id, bridge, socket);
      else
        add_switch(below, std::nullopt, id, bridge, socket);
    }
  }

  // AMD's accelerators show a switch of their own above the GPU.
  std::optional<std::size_t> device_on_card(std::size_t upstream) {
    if (!at(upstream).facts.id.starts_with("1002:")) return std::nullopt;
    auto node = upstream;
    while (at(node).facts.is_bridge()) {
      std::vector<std::size_t> wanted;
      for (auto const child : at(node).below)
        if (at(child).wanted) wanted.push_back(child);
      if (wanted.size() != 1) return std::nullopt;
      node = wanted.front();
    }
    if (at(node).kind != PciKind::Gpu) return std::nullopt;
    builder_.note("inferred: a switch of AMD with one GPU below it is on the GPU's card, no switch of the board");
    // The slot's link is that of the card's edge.
    tree_.nodes[node].facts.link = at(upstream).facts.link;
    tree_.nodes[node].facts.max_link = at(upstream).facts.max_link;
    return node;
  }

  // Function 1 and up of a network adapter: they share the link of function 0, which stands for all.
  [[nodiscard]] bool is_further_port(std::size_t node, std::vector<std::size_t> const& beside) const {
    auto const slot = [&](std::size_t n) { return at(n).facts.bdf.substr(0, at(n).facts.bdf.rfind('.')); };
    if (at(node).kind != PciKind::Nic) return false;
    return std::any_of(beside.begin(), beside.end(), [&](std::size_t other) {
      return at(other).kind == PciKind::Nic && slot(other) == slot(node) && at(other).facts.bdf < at(node).facts.bdf;
    });
  }
  [[nodiscard]] bool has_rdma(Node const& node) const {
    return std::any_of(facts_.nics.begin(), facts_.nics.end(),
                       [&](NicFacts const& nic) { return nic.rdma && nic.bdf == node.facts.bdf; });
  }

  // ------------------------------------------------------------------------------------------------------ functions
  void describe(PciFunction& function, std::size_t node, std::optional<std::size_t> port, std::optional<PciId> parent,
                HostBridgeId bridge) {
    auto const& facts = at(node).facts;
    function.parent = parent;
    function.host_bridge = bridge;
    function.bdf = facts.bdf;
    auto const first_of = [](auto const&... found) {
      std::optional<PcieLink> first;
      ((first = first ? first : found), ...);
      return first;
    };
    auto const* above = port ? &at(*port).facts : nullptr;
    function.link = first_of(facts.link, above != nullptr ? above->link : std::nullopt, facts.config.link);
    auto const own = first_of(facts.max_link, facts.config.max_link);
    auto const of_port = above == nullptr ? std::nullopt : first_of(above->max_link, above->config.max_link);
    function.max_link = own && of_port ? std::optional(negotiated(*own, *of_port)) : std::nullopt;
    if (above == nullptr) return;
    function.acs = above->config.acs;
    if (!above->config.acs.known) ++unknown_acs_;
  }

  void add_device(std::size_t node, std::optional<std::size_t> port, std::optional<PciId> parent, HostBridgeId bridge,
                  SocketId socket) {
    auto const& facts = at(node).facts;
    PciFunction function;
    function.kind = at(node).kind.value_or(PciKind::Device);
    function.name = name_of(at(node), function.kind);
    describe(function, node, port, parent, bridge);
    if (facts.driver == "vfio-pci")
      builder_.note(fmt::format("{} is bound to vfio-pci: it is lent to a virtual machine", function.name));
    switch (function.kind) {
      case PciKind::Gpu: return add_gpu(std::move(function), node, socket);
      case PciKind::Nic: return add_nic(std::move(function), node);
      default: break;
    }
    auto const kind = function.kind == PciKind::Nvme ? PartKind::Nvme : PartKind::Device;
    function.part =
        builder_.part(at(node).role != nullptr ? at(node).role->part : builder_.part_by_pci_id(facts.id, kind), kind);
    enter(std::move(function));
  }

  // A device whose part has no PCIe link, such as a paravirtual adapter, lacks none.
  PciId enter(PciFunction function) {
    bool const linked = !function.part || builder_.machine().at(*function.part).pcie.link;
    if (!function.link && linked) unlinked_.push_back(function.name);
    return builder_.add(std::move(function));
  }

  void add_gpu(PciFunction function, std::size_t node, SocketId socket) {
    auto const& facts = at(node).facts;
    for (auto const& gpu : facts_.nvml.gpus) {
      if (gpu.bdf != facts.bdf) continue;
      function.mig = gpu.mig.value_or(false);
      if (!function.link && gpu.link) {
        function.link = gpu.link;
        linked_by_driver_.push_back(function.name);
      }
    }
    function.part = at(node).role != nullptr ? builder_.part(at(node).role->part, PartKind::Gpu)
                                             : gpu_part(facts, facts_, builder_);
    auto const name = function.name;
    auto const clique = facts.config.peer_clique;
    auto const id = enter(std::move(function));
    gpus_.push_back({facts.bdf, id, socket});
    if (clique) cliques_[*clique].push_back(name);
  }

  // All ports of an adapter share its PCIe link, so they are one function with the sum of their rates.
  void add_nic(PciFunction function, std::size_t node) {
    auto const slot = at(node).facts.bdf.substr(0, at(node).facts.bdf.rfind('.') + 1);
    auto const ports = ports_of_nic(facts_, slot);
    function.part = at(node).role != nullptr ? builder_.part(at(node).role->part, PartKind::Nic)
                                             : nic_part(at(node).facts, ports, builder_);
    function.device_name = at(node).role != nullptr && !at(node).role->device_name.empty()
                               ? at(node).role->device_name
                               : (ports.empty() ? std::string() : ports.front().name);
    BytesPerSecond rate{0};
    for (auto const& port : ports) rate += port.rate.value_or(BytesPerSecond(0));
    if (rate > BytesPerSecond(0) && at(node).role == nullptr) builder_.set_rate(function, rate);
    if (ports.size() > 1) {
      std::vector<std::string> names;
      for (auto const& port : ports) names.push_back(port.name);
      builder_.note(fmt::format("{} stands for all its ports, with the sum of their rates: {}", function.name,
                                fmt::join(names, ", ")));
    }
    enter(std::move(function));
  }

  // Soft-RoCE over an interface that is no PCI device.
  void add_devices_without_address(SocketId socket) {
    if (has_roles_) return;
    for (auto const& nic : facts_.nics) {
      if (!nic.rdma || !nic.bdf.empty() || !interface_address(facts_, nic.below).empty()) continue;
      PciFunction function;
      function.kind = PciKind::Nic;
      function.name = builder_.next_name(PciKind::Nic);
      function.host_bridge = bridge_of(tree_.tops.empty() ? "0000:00" : at(tree_.tops.front()).facts.root_bus, socket);
      function.part = builder_.part("rxe", PartKind::Nic);
      function.device_name = nic.name;
      if (nic.rate) builder_.set_rate(function, *nic.rate);
      builder_.note(fmt::format("{} is Soft-RoCE ({}{}) and has no PCI function; put on the root bus", function.name,
                                nic.name, nic.below.empty() ? "" : " over " + nic.below));
      builder_.add(std::move(function));
    }
  }

  // ------------------------------------------------------------------------------------------- what the tree cannot
  // say
  void describe_platform() {
    auto& settings = builder_.settings();
    bool const devices = !gpus_.empty() || std::any_of(facts_.nics.begin(), facts_.nics.end(), [](NicFacts const& nic) {
      return nic.rdma && !nic.bdf.empty();
    });
    settings.virtualization.passthrough = (is_guest() && devices) || !flat_.empty();
    if (is_guest()) settings.virtualization.hypervisor = facts_.platform.hypervisor;
    if (has_roles_) builder_.note("an emulated machine: stand-ins play its devices, as the roles file says");
    settings.iommu = is_hidden() ? IommuMode::Unknown : iommu_mode(tree_, facts_, builder_);
    describe_software(facts_, has_roles_, builder_);
  }

  void note_what_is_hidden() {
    if (gpus_.empty()) builder_.note("no GPU was found");
    if (is_guest() && facts_.platform.hypervisor.empty())
      builder_.note("a virtual machine; nothing says which hypervisor runs it");
    if (!flat_.empty())
      builder_.note(
          "the PCI tree is flat: GPUs or NICs are devices of the root bus, as virtual machines present them; which "
          "switches, root ports and sockets they really hang from cannot be known from inside");
    if (is_hidden()) {
      builder_.note("ACS and IOMMU are the host's and cannot be read by a guest");
      if (unknown_acs_ < ports_seen()) builder_.note("ports that a guest sees are emulated; their ACS says nothing");
    } else if (unknown_acs_ > 0) {
      builder_.note(
          fmt::format("the ACS control of {} ports could not be read: the kernel shows config space only to "
                      "root",
                      unknown_acs_));
    }
    note_devices("the system gives no PCIe link of", unlinked_);
    note_devices("the system gives no PCIe link, but NVML does, of", linked_by_driver_);
  }
  void note_devices(std::string_view what, std::vector<std::string> const& names) {
    if (names.empty()) return;
    constexpr std::size_t kMaxNamed = 16;
    auto const named = std::span(names).first(std::min(kMaxNamed, names.size()));
    builder_.note(fmt::format("{} {}{}", what, fmt::join(named, ", "), names.size() > kMaxNamed ? ", ..." : ""));
  }
  [[nodiscard]] std::size_t ports_seen() const {
    return static_cast<std::size_t>(std::count_if(tree_.nodes.begin(), tree_.nodes.end(), [](Node const& node) {
      return node.facts.is_bridge() && node.wanted;
    }));
  }

  // What most ports have becomes the setting, so that only the others say theirs.
  void settle_acs(Machine& machine) const {
    std::map<std::uint16_t, int> known;
    for (auto const& function : machine.functions)
      if (function.acs && function.acs->known) ++known[function.acs->bits];
    auto& setting = machine.hosts.front().settings.acs;
    auto const most =
        std::max_element(known.begin(), known.end(), [](auto const& a, auto const& b) { return a.second < b.second; });
    setting = most == known.end() || is_hidden() ? AcsControl::unknown() : AcsControl{true, most->first};
    for (auto& function : machine.functions)
      if (is_hidden() || function.acs == setting) function.acs.reset();
  }

  void settle_cliques(Machine& machine) const {
    for (auto const& [number, gpus] : cliques_) machine.hosts.front().settings.virtualization.cliques.push_back(gpus);
  }

  Facts const& facts_;
  bool has_roles_;
  MachineBuilder builder_;
  PciTree tree_;
  std::set<std::string> taken_;  // names that the roles file gives
  std::map<std::string, std::string> gpu_names_;
  std::vector<PlacedGpu> gpus_;
  std::map<int, std::vector<std::string>> cliques_;
  std::vector<std::string> unlinked_;
  std::vector<std::string> linked_by_driver_;
  std::vector<std::size_t> flat_;
  std::size_t unknown_acs_ = 0;
};

}  // namespace

Machine machine_of(Facts const& facts, std::string const& name, std::optional<std::vector<Role>> const& roles,
                   Catalogue& catalogue) {
  return Assembler(facts, name, roles, catalogue).assemble();
}

}  // namespace lanewise::hw
