#include "core/interop/host/pci_assembler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/interop/host/device_parts.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {

PciAssembler::PciAssembler(HostFacts const& facts, std::optional<std::vector<Role>> const& roles, PciTree& tree,
                           MachineBuilder& builder)
    : facts_(facts), tree_(tree), builder_(builder) {
  if (roles)
    for (auto const& role : *roles) taken_.insert(role.name);
  number_gpus();
}

// In the order of nvidia-smi, which is that of their addresses.
void PciAssembler::number_gpus() {
  std::vector<std::string> addresses;
  for (auto const& node : tree_.nodes)
    if (node.kind == PciKind::Gpu) addresses.push_back(node.facts.bdf);
  std::sort(addresses.begin(), addresses.end());
  if (auto const twice = std::adjacent_find(addresses.begin(), addresses.end()); twice != addresses.end())
    throw InputError(fmt::format("two GPUs have the PCI address {}", *twice));
  for (std::size_t i = 0; i < addresses.size(); ++i) gpu_names_[addresses[i]] = fmt::format("gpu{}", i);
}

void PciAssembler::add_top(std::size_t top, HostBridgeId bridge, SocketId socket) {
  auto const& node = at(top);
  if (!node.facts.is_bridge()) {
    if (is_further_port(top, tree_.tops)) return;
    if (node.facts.above_unknown) {
      found_.without_port.push_back(node.kind == PciKind::Gpu ? gpu_names_.at(node.facts.bdf) : node.facts.bdf);
      auto const port = builder_.add_root_port(name_of(node, PciKind::RootPort), bridge);
      return add_device(top, std::nullopt, port, bridge, socket);
    }
    if (node.kind == PciKind::Gpu || has_rdma(node)) found_.flat.push_back(top);
    add_device(top, std::nullopt, std::nullopt, bridge, socket);
    return;
  }
  auto const port = builder_.add_root_port(name_of(node, PciKind::RootPort), bridge);
  add_below(top, port, bridge, socket);
}

std::string PciAssembler::name_of(Node const& node, PciKind kind) {
  if (node.role != nullptr) return node.role->name;
  if (kind == PciKind::Gpu) return gpu_names_.at(node.facts.bdf);
  auto name = builder_.next_name(kind);
  while (taken_.contains(name)) name = builder_.next_name(kind);
  return name;
}

// Adds what is below a root port or a switch's downstream port: one device or one switch.
void PciAssembler::add_below(std::size_t port, PciId parent, HostBridgeId bridge, SocketId socket) {
  bool has_device = false;
  for (auto const child : at(port).below) {
    if (!at(child).wanted || is_further_port(child, at(port).below)) continue;
    if (has_device) {
      builder_.note(fmt::format("{} shares its PCIe link with another device and is left out", at(child).facts.bdf));
      continue;
    }
    has_device = true;
    if (at(child).facts.is_bridge())
      add_switch(child, port, parent, bridge, socket);
    else
      add_device(child, port, parent, bridge, socket);
  }
}

void PciAssembler::add_switch(std::size_t upstream, std::optional<std::size_t> port, PciId parent, HostBridgeId bridge,
                              SocketId socket) {
  if (auto const device = device_on_card(upstream)) return add_device(*device, port, parent, bridge, socket);
  auto const& node = at(upstream);
  PciFunction function;
  function.kind = PciKind::Switch;
  function.name = name_of(node, PciKind::Switch);
  describe(function, upstream, port, parent, bridge);
  auto const name = node.role != nullptr ? node.role->part : switch_part(node.facts, facts_, builder_);
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

// The GPU of an AMD card that shows a switch of its own above it; nullopt where the switch is the board's.
std::optional<std::size_t> PciAssembler::device_on_card(std::size_t upstream) {
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
  // The slot's link ends at the card's switch.
  tree_.nodes[node].facts.link = at(upstream).facts.link;
  tree_.nodes[node].facts.max_link = at(upstream).facts.max_link;
  return node;
}

// Whether a function is a further one of a network adapter. They share the link of function 0, which stands for all.
bool PciAssembler::is_further_port(std::size_t node, std::vector<std::size_t> const& beside) const {
  auto const slot = [&](std::size_t n) { return at(n).facts.bdf.substr(0, at(n).facts.bdf.rfind('.')); };
  if (at(node).kind != PciKind::Nic) return false;
  return std::any_of(beside.begin(), beside.end(), [&](std::size_t other) {
    return at(other).kind == PciKind::Nic && slot(other) == slot(node) && at(other).facts.bdf < at(node).facts.bdf;
  });
}

bool PciAssembler::has_rdma(Node const& node) const {
  return std::any_of(facts_.nics.begin(), facts_.nics.end(),
                     [&](NicFacts const& nic) { return nic.rdma && nic.bdf == node.facts.bdf; });
}

void PciAssembler::describe(PciFunction& function, std::size_t node, std::optional<std::size_t> port,
                            std::optional<PciId> parent, HostBridgeId bridge) {
  auto const& facts = at(node).facts;
  function.parent = parent;
  function.host_bridge = bridge;
  if (!facts.address_unknown) function.bdf = facts.bdf;
  if (at(node).role == nullptr) function.firmware = facts.firmware;  // a stand-in's is not that of the device
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
  if (!above->config.acs.known) ++found_.unknown_acs;
}

// An idle GPU trains its link down to gen1 and back up when it works.
void PciAssembler::wake(PciFunction& gpu, std::optional<PcieLink> own) {
  if (!own && gpu.part) own = builder_.machine().at(*gpu.part).pcie.link;
  if (!facts_.links_may_sleep || !gpu.link || !own || gpu.link->generation > 1 || own->generation < 3) return;
  gpu.link->generation = gpu.max_link ? gpu.max_link->generation : own->generation;
  found_.woken.push_back(gpu.name);
}

void PciAssembler::add_device(std::size_t node, std::optional<std::size_t> port, std::optional<PciId> parent,
                              HostBridgeId bridge, SocketId socket) {
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
  add_function(std::move(function));
}

// Notes a missing link, except where the part has none, as paravirtual adapters do.
PciId PciAssembler::add_function(PciFunction function) {
  bool const linked = !function.part || builder_.machine().at(*function.part).pcie.link;
  if (!function.link && linked) found_.without_link.push_back(function.name);
  return builder_.add(std::move(function));
}

void PciAssembler::add_gpu(PciFunction function, std::size_t node, SocketId socket) {
  auto const& facts = at(node).facts;
  for (auto const& gpu : facts_.nvml.gpus) {
    if (gpu.bdf != facts.bdf) continue;
    function.mig = gpu.mig.value_or(false);
    if (function.firmware.empty()) function.firmware = gpu.firmware;
    if (!function.link && gpu.link) {
      function.link = gpu.link;
      found_.link_from_driver.push_back(function.name);
    }
  }
  function.part =
      at(node).role != nullptr ? builder_.part(at(node).role->part, PartKind::Gpu) : gpu_part(facts, facts_, builder_);
  wake(function, facts.max_link ? facts.max_link : facts.config.max_link);
  auto const name = function.name;
  auto const clique = facts.config.peer_clique;
  auto const id = add_function(std::move(function));
  found_.gpus.push_back({facts.bdf, id, socket});
  if (clique) found_.cliques[*clique].push_back(name);
}

// Adds all ports of an adapter as one function with the sum of their rates, because they share its PCIe link.
void PciAssembler::add_nic(PciFunction function, std::size_t node) {
  auto const slot = at(node).facts.bdf.substr(0, at(node).facts.bdf.rfind('.') + 1);
  auto const ports = ports_of_nic(facts_, slot);
  function.part = at(node).role != nullptr ? builder_.part(at(node).role->part, PartKind::Nic)
                                           : nic_part(at(node).facts, ports, facts_, builder_);
  function.device_name = at(node).role != nullptr && !at(node).role->device_name.empty()
                             ? at(node).role->device_name
                             : (ports.empty() ? std::string() : ports.front().name);
  if (function.firmware.empty() && !ports.empty() && at(node).role == nullptr)
    function.firmware = ports.front().firmware;
  BytesPerSecond rate{0};
  for (auto const& port : ports) rate += port.rate.value_or(BytesPerSecond(0));
  if (rate > BytesPerSecond(0) && at(node).role == nullptr) builder_.set_rate(function, rate);
  if (ports.size() > 1) {
    std::vector<std::string> names;
    for (auto const& port : ports) names.push_back(port.name);
    builder_.note(fmt::format("{} stands for all its ports, with the sum of their rates: {}", function.name,
                              fmt::join(names, ", ")));
  }
  add_function(std::move(function));
}

}  // namespace lanewise
