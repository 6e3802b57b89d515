// Reads sockets, NUMA nodes and the PCI tree of a machine file.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/machine/fastest_link.hpp"
#include "core/machine/files/machine_reader.hpp"
#include "core/machine/machine_fields.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 5> kOccupants{"switch", "gpu", "nic", "nvme", "device"};
constexpr std::array<PciKind, 5> kOccupantKinds{PciKind::Switch, PciKind::Gpu, PciKind::Nic, PciKind::Nvme,
                                                PciKind::Device};

std::optional<PartKind> part_kind_of(PciKind kind) {
  switch (kind) {
    case PciKind::Switch: return PartKind::Switch;
    case PciKind::Gpu: return PartKind::Gpu;
    case PciKind::Nic: return PartKind::Nic;
    case PciKind::Nvme: return PartKind::Nvme;
    case PciKind::Device: return PartKind::Device;
    case PciKind::RootPort: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

void MachineReader::read_socket(MapReader& reader) {
  auto const name = reader.text("socket");
  if (!name || !claim_name(reader, *reader.node("socket"), *name)) return;
  auto const socket = SocketId(machine_.sockets.size());
  machine_.sockets.push_back({*name, HostId{0}, referenced_part(reader, PartKind::Cpu)});
  auto const first_numa = machine_.numa_nodes.size();
  for (auto& numa : reader.maps("numa")) {
    NumaNode node;
    node.socket = socket;
    node.os_index = -1;
    for (auto const& field : numa_fields()) field.read(node, numa);
    if (node.os_index >= 0) add_numa(numa, std::move(node));
  }
  if (machine_.numa_nodes.size() == first_numa)
    add_numa(reader, {.name = {}, .socket = socket, .os_index = static_cast<int>(index(socket)), .cores = {}});
  for (auto& port : reader.maps("pcie")) read_top_port(port, socket, NumaId(first_numa));
}

void MachineReader::add_numa(MapReader const& reader, NumaNode node) {
  node.name = fmt::format("numa{}", node.os_index);
  if (claim_name(reader, reader.self(), node.name)) machine_.numa_nodes.push_back(std::move(node));
}

void MachineReader::read_top_port(MapReader& reader, SocketId socket, NumaId first_numa) {
  NumaId numa = first_numa;
  if (auto const wanted = reader.count("numa")) {
    auto const found = std::find_if(machine_.numa_nodes.begin(), machine_.numa_nodes.end(), [&](NumaNode const& node) {
      return node.socket == socket && node.os_index == *wanted;
    });
    if (found != machine_.numa_nodes.end())
      numa = NumaId(found - machine_.numa_nodes.begin());
    else
      reader.fail(*reader.node("numa"),
                  fmt::format("socket '{}' has no NUMA node {}", machine_.at(socket).name, *wanted));
  }
  auto const port_name = reader.text("root_port");
  auto const bridge = host_bridge(reader, socket, numa, port_name.value_or(""));
  std::optional<PciId> parent;
  if (port_name) {
    if (!claim_name(reader, *reader.node("root_port"), *port_name)) return;
    parent = PciId(machine_.functions.size());
    PciFunction port;
    port.name = *port_name;
    port.kind = PciKind::RootPort;
    port.host_bridge = bridge;
    machine_.functions.push_back(std::move(port));
    if (occupant_of(reader) == kOccupants.size()) {  // an empty slot
      if (reader.node("ports") != nullptr)
        reader.fail_at_key("ports", "'ports' are those of a switch; name it beside them: 'switch: NAME'");
      return;
    }
  }
  read_port(reader, bridge, parent);
}

HostBridgeId MachineReader::host_bridge(MapReader& reader, SocketId socket, NumaId numa, std::string const& port_name) {
  auto const* cpu = machine_.part_of(socket);
  bool const shared = port_name.empty() || cpu == nullptr || cpu->cpu.host_bridges == HostBridges::PerSocket;
  auto const name =
      reader.text("host_bridge")
          .value_or(fmt::format("{}.{}", machine_.at(socket).name, shared ? std::string("hb") : "hb-" + port_name));
  auto& bridges = machine_.host_bridges;
  for (std::size_t i = 0; i < bridges.size(); ++i) {
    if (bridges[i].name != name) continue;
    if (bridges[i].socket == socket && bridges[i].numa == numa) return HostBridgeId(i);
    if (reader.has("host_bridge"))
      reader.fail(*reader.node("host_bridge"),
                  fmt::format("the host bridge '{}' belongs to another socket or NUMA node", name));
  }
  bridges.push_back({name, socket, numa});
  return HostBridgeId(bridges.size() - 1);
}

std::size_t MachineReader::occupant_of(MapReader const& reader) {
  for (std::size_t i = 0; i < kOccupants.size(); ++i)
    if (reader.has(kOccupants[i])) return i;
  return kOccupants.size();
}

void MachineReader::read_port(MapReader& reader, HostBridgeId bridge, std::optional<PciId> parent) {
  auto const occupant = occupant_of(reader);
  auto const occupants = std::count_if(kOccupants.begin(), kOccupants.end(), [&](auto key) { return reader.has(key); });
  if (occupants != 1) return reader.fail(reader.self(), "a port holds exactly one of switch, gpu, nic, nvme, device");
  auto const name = reader.text(kOccupants[occupant]);
  if (!name || !claim_name(reader, *reader.node(kOccupants[occupant]), *name)) return;
  if (kOccupantKinds[occupant] == PciKind::Switch && !parent)
    return reader.fail_at_key("switch",
                              fmt::format("the switch '{}' needs a port above it; add 'root_port: NAME'", *name));
  PciFunction function;
  function.name = *name;
  function.kind = kOccupantKinds[occupant];
  function.parent = parent;
  function.host_bridge = bridge;
  function.part = referenced_part(reader, *part_kind_of(function.kind));
  read_fields(reader, function);
  auto const part_name = reader.text("part");
  if (!part_name)
    reader.fail(reader.self(), fmt::format("'{}' has no part; name one, or write 'part: unknown'", *name));
  check_link(reader, function);
  auto const id = PciId(machine_.functions.size());
  bool const is_switch = function.kind == PciKind::Switch;
  machine_.functions.push_back(std::move(function));
  if (!is_switch && reader.has("ports"))
    reader.fail_at_key("ports",
                       fmt::format("only a switch has ports; '{}' is a {}", *name, to_string(machine_.at(id).kind)));
  if (!is_switch) return;
  enclosing_switches_.push_back(*name);
  for (auto& port : reader.maps("ports")) {
    if (port.has("root_port")) port.fail_at_key("root_port", "a root port belongs to a socket, not to a switch");
    read_port(port, bridge, id);
  }
  enclosing_switches_.pop_back();
}

void MachineReader::read_fields(MapReader& reader, PciFunction& function) {
  for (auto const& field : function_fields()) {
    field.read(function, reader);
    if (field.only && reader.has(field.spec.name) && function.kind != *field.only)
      reader.fail_at_key(field.spec.name, fmt::format("'{}' belongs to a {}, but '{}' is a {}", field.spec.name,
                                                      to_string(*field.only), function.name, to_string(function.kind)));
  }
}

void MachineReader::check_link(MapReader const& reader, PciFunction const& function) {
  for (auto const* key : {"link", "max"}) {
    auto const link = std::string_view(key) == "link" ? function.link : function.max_link;
    if (!link) continue;
    auto const check_against = [&](std::string const& what, PcieLink limit) {
      if (link->generation > limit.generation || link->width > limit.width)
        reader.fail(*reader.node(key),
                    fmt::format("'{}': {} is more than {} can do ({})", key, to_string(*link), what, to_string(limit)));
    };
    auto const of_part = function.part ? fastest_link(machine_.at(*function.part)) : std::nullopt;
    if (of_part) check_against(fmt::format("the part '{}'", machine_.at(*function.part).name), *of_part);
    if (!function.parent) continue;
    auto const& above = machine_.at(*function.parent);
    auto const of_port =
        above.kind == PciKind::Switch && above.part ? fastest_link(machine_.at(*above.part)) : std::nullopt;
    if (of_port) check_against(fmt::format("a port of the switch '{}'", above.name), *of_port);
    auto const* cpu = machine_.part_of(machine_.at(above.host_bridge).socket);
    if (above.kind == PciKind::RootPort && cpu != nullptr && cpu->cpu.root_port_generation)
      check_against(fmt::format("a root port of '{}'", cpu->name), {*cpu->cpu.root_port_generation, 32});
  }
}

}  // namespace lanewise
