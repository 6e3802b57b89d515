#include "core/interop/host/host_machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <span>

#include "core/interop/host/device_parts.hpp"
#include "core/interop/host/gpu_links.hpp"
#include "core/interop/host/host_settings.hpp"
#include "core/interop/host/pci_assembler.hpp"
#include "core/interop/host/pci_tree.hpp"
#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/product_links.hpp"

namespace lanewise {
namespace {

using Node = PciTree::Node;

// Adds everything in the order of a machine file.
class MachineAssembler {
 public:
  MachineAssembler(HostFacts const& facts, std::string name, std::optional<RolesFile> const& roles,
                   Catalogue& catalogue)
      : facts_(facts),
        has_roles_(roles.has_value()),
        builder_(std::move(name), catalogue, facts.source),
        roles_(roles ? std::optional(roles->roles) : std::nullopt),
        tree_(make_pci_tree(facts, roles_, catalogue)),
        pci_(facts, roles_, tree_, builder_) {
    if (!roles) return;
    cpus_ = roles->cpus;
    builder_.use_parts(roles->parts);
  }
  MachineAssembler(MachineAssembler const&) = delete;
  MachineAssembler& operator=(MachineAssembler const&) = delete;
  ~MachineAssembler() = default;

  Machine assemble() {
    for (auto const& note : facts_.notes) builder_.note(note);
    for (auto const& note : tree_.notes) builder_.note(note);
    add_sockets();
    builder_.add_usual_socket_links();
    add_gpu_links(facts_, pci_.found().gpus, builder_);
    if (!facts_.lists_nvlinks) infer_gpu_links();
    describe_platform();
    note_what_is_hidden();
    auto machine = builder_.take();
    machine.title = facts_.platform.product;
    set_common_acs(machine);
    add_cliques(machine);
    return machine;
  }

 private:
  [[nodiscard]] Node const& at(std::size_t node) const { return tree_.nodes[node]; }
  [[nodiscard]] bool is_guest() const {
    return !has_roles_ && (facts_.cpu.hypervisor || !facts_.platform.hypervisor.empty());
  }

  // Whether ACS and IOMMU, which decide how packets travel, belong to a host that this guest cannot see.
  [[nodiscard]] bool is_hidden() const { return !has_roles_ && (is_guest() || !pci_.found().flat.empty()); }

  // NUMA nodes by socket. Sockets that share a node (their memory is interleaved by the firmware) count as one.
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

  // The part of a socket, by the order of sockets; empty when unknown. QEMU's processor is no part.
  std::string cpu_of(std::size_t number) {
    if (number >= cpus_.size()) return cpu_part(facts_, builder_);
    return cpus_[number] == "unknown" ? std::string() : cpus_[number];
  }

  void add_sockets() {
    std::size_t number = 0;
    auto const by_socket = sockets();
    bool first = true;
    for (auto const& nodes : by_socket) {
      auto const socket = builder_.add_socket(cpu_of(number++), nodes.front()->node, nodes.front()->cores);
      for (auto const* node : std::span(nodes).subspan(1)) builder_.add_numa(socket, node->node, node->cores);
      for (auto const top : tree_.tops)
        if (at(top).wanted && belongs(top, nodes, first))
          pci_.add_top(top, bridge_of(at(top).facts.root_bus, socket), socket);
      if (first) add_devices_without_address(socket);
      first = false;
    }
  }

  // The NUMA node of a root bus: that of the first function on it that has one; -1 where none has.
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
      builder_.note(fmt::format("{} does not say which NUMA node the devices of root bus {} are near; put on node {}",
                                facts_.source, at(top).facts.root_bus, nodes.front()->node));
    return true;
  }

  HostBridgeId bridge_of(std::string const& bus, SocketId socket) {
    auto const numa = numa_of_bus(bus);
    constexpr std::string_view kNoAddress = "fffffff0:";
    auto name = bus.starts_with(kNoAddress) ? "hb" + bus.substr(kNoAddress.size()) : "pci" + bus;
    // Besides colons, whatever else an odd file has in the place of a bus: names have none of it.
    auto const is_odd = [](unsigned char c) { return std::isalnum(c) == 0; };
    std::replace_if(name.begin(), name.end(), is_odd, '-');
    auto const& nodes = builder_.machine().numa_nodes;
    auto const found = std::find_if(nodes.begin(), nodes.end(), [&](NumaNode const& node) {
      return node.socket == socket && node.os_index == numa;
    });
    return builder_.host_bridge(socket, name,
                                found == nodes.end() ? std::nullopt : std::optional(NumaId(found - nodes.begin())));
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

  // Boards number their GPUs as nvidia-smi does: by address.
  void infer_gpu_links() {
    auto gpus = pci_.found().gpus;
    std::sort(gpus.begin(), gpus.end(), [](PlacedGpu const& a, PlacedGpu const& b) { return a.bdf < b.bdf; });
    std::vector<PciId> ids;
    for (auto const& gpu : gpus) ids.push_back(gpu.id);
    add_product_links(ids, builder_);
  }

  void describe_platform() {
    auto& settings = builder_.settings();
    bool const devices =
        !pci_.found().gpus.empty() || std::any_of(facts_.nics.begin(), facts_.nics.end(),
                                                  [](NicFacts const& nic) { return nic.rdma && !nic.bdf.empty(); });
    settings.virtualization.passthrough = (is_guest() && devices) || !pci_.found().flat.empty();
    if (is_guest()) settings.virtualization.hypervisor = facts_.platform.hypervisor;
    if (!has_roles_) settings.firmware = facts_.platform.firmware;  // the emulator's says nothing of the file's machine
    if (has_roles_) builder_.note("an emulated machine: stand-ins play its devices, as the roles file says");
    settings.iommu = is_hidden() ? IommuMode::Unknown : iommu_mode(tree_, facts_, builder_);
    describe_software(facts_, has_roles_, builder_);
  }

  void note_what_is_hidden() {
    if (pci_.found().gpus.empty()) builder_.note("no GPU was found");
    if (is_guest() && facts_.platform.hypervisor.empty())
      builder_.note("a virtual machine; nothing says which hypervisor runs it");
    if (!pci_.found().flat.empty())
      builder_.note(
          "the PCI tree is flat: GPUs or NICs are devices of the root bus, as virtual machines present them; which "
          "switches, root ports and sockets they really hang from cannot be known from inside");
    if (is_hidden()) {
      builder_.note("ACS and IOMMU are the host's and cannot be read by a guest");
      if (pci_.found().unknown_acs < ports_seen())
        builder_.note("ports that a guest sees are emulated; their ACS says nothing");
    } else if (pci_.found().unknown_acs > 0 && facts_.shows_config) {
      builder_.note(
          fmt::format("the ACS control of {} ports could not be read: the kernel shows config space only to root",
                      pci_.found().unknown_acs));
    }
    note_devices(fmt::format("inferred: {} does not say what they hang from, so each has a root port of its own:",
                             facts_.source),
                 pci_.found().without_port);
    note_devices(fmt::format("inferred: {} shows a link at gen1 speed, as that of an idle GPU; the speed that it is "
                             "capable of is taken for",
                             facts_.source),
                 pci_.found().woken);
    note_devices(facts_.source + " gives no PCIe link of", pci_.found().without_link);
    note_devices(facts_.source + " gives no PCIe link, but NVML does, of", pci_.found().link_from_driver);
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

  // Makes the ACS bits of most ports the machine's setting, so that only other ports name theirs.
  void set_common_acs(Machine& machine) const {
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

  void add_cliques(Machine& machine) const {
    for (auto const& [number, gpus] : pci_.found().cliques)
      machine.hosts.front().settings.virtualization.cliques.push_back(gpus);
  }

  HostFacts const& facts_;
  bool has_roles_;
  std::vector<std::string> cpus_;  // of the roles file
  MachineBuilder builder_;
  std::optional<std::vector<Role>> roles_;
  PciTree tree_;
  PciAssembler pci_;
};

}  // namespace

Machine machine_of(HostFacts const& facts, std::string const& name, std::optional<RolesFile> const& roles,
                   Catalogue& catalogue) {
  return MachineAssembler(facts, name, roles, catalogue).assemble();
}

}  // namespace lanewise
