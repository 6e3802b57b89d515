#include "lanewise/model/resources/resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/machine/end_name.hpp"
#include "core/machine/fabric_ways.hpp"
#include "core/machine/nic_port.hpp"
#include "core/machine/nic_rate.hpp"
#include "core/machine/path_class.hpp"
#include "core/model/resources/figures.hpp"
#include "core/model/resources/network.hpp"
#include "core/model/resources/overheads.hpp"
#include "core/model/resources/pcie.hpp"

namespace lanewise {
namespace {

// The packet payload between two ends: the smaller of their MPS settings.
Bytes payload_between(Part const* below, Part const* above) {
  auto const of = [](Part const* part) {
    return part != nullptr ? part->pcie.max_payload.value_or(overheads::kDefaultPayload) : overheads::kDefaultPayload;
  };
  return std::min(of(below), of(above));
}

std::string missing_link(Machine const& machine, PciId id) {
  auto const& function = machine.at(id);
  if (!function.part) return fmt::format("the link of '{}', whose part is unknown", function.name);
  return fmt::format("the link of '{}' (its part '{}' gives none)", function.name, machine.at(*function.part).name);
}

// How many GPUs the NVLinks of each function lead to without an NVSwitch.
std::vector<int> linked_gpus(Machine const& machine) {
  std::set<std::pair<PciId, PciId>> pairs;
  for (auto const& bundle : machine.nvlinks) {
    auto const* a = std::get_if<PciId>(&bundle.a);
    auto const* b = std::get_if<PciId>(&bundle.b);
    if (a != nullptr && b != nullptr) pairs.insert({{*a, *b}, {*b, *a}});
  }
  std::vector<int> linked(machine.functions.size(), 0);
  for (auto const& [gpu, unused] : pairs) ++linked[index(gpu)];
  return linked;
}

}  // namespace

Resources::Resources(Machine const& machine) {
  resources_.reserve(machine.functions.size() * 4);
  add_functions(machine);
  share_ports(machine);
  add_sockets(machine);
  add_socket_pairs(machine);
  add_unlinked_sockets(machine);
  add_nvlinks(machine);
  add_network(machine);
}

ResourceId Resources::add(std::string name, ResourceKind kind, std::optional<BytesPerSecond> capacity,
                          std::string missing) {
  if (!capacity && missing.empty()) missing = "the bandwidth of " + name;
  resources_.push_back({std::move(name), kind, capacity, std::move(missing)});
  capacities_.push_back(capacity);
  return ResourceId(resources_.size() - 1);
}

Duplex Resources::add_duplex(std::string const& stem, std::string const& up, std::string const& down, ResourceKind kind,
                             std::optional<BytesPerSecond> capacity, std::string const& missing) {
  auto const first = add(stem + up, kind, capacity, missing);
  return {first, add(stem + down, kind, capacity, missing)};
}

void Resources::widen_range(ResourceId id, double low, double high) {
  auto& resource = resources_[index(id)];
  resource.generic_low = std::min(resource.generic_low, low);
  resource.generic_high = std::max(resource.generic_high, high);
}

void Resources::mark_generic(ResourceId id, Part const* part, Part const* limit) {
  auto const spread = [](Part const* of) { return of != nullptr ? of->spread.value_or(1) : 1; };
  widen_range(id, 1 / std::max(spread(part), spread(limit)), spread(part));
}

void Resources::mark_generic(Duplex const& both, Part const* part, Part const* limit) {
  mark_generic(both.up, part, limit);
  mark_generic(both.down, part, limit);
}

void Resources::mark_estimated(ResourceId id, Part const* part, std::string_view figure) {
  auto const* source = part != nullptr ? part->source_of(figure) : nullptr;
  if (source == nullptr || source->kind != SourceKind::Estimated || part->spread) return;
  widen_range(id, 1 / overheads::kEstimatedRateSpread, overheads::kEstimatedRateSpread);
}

void Resources::mark_estimated(Duplex const& both, Part const* part, std::string_view figure) {
  mark_estimated(both.up, part, figure);
  mark_estimated(both.down, part, figure);
}

void Resources::widen(ResourceId id, double times) {
  auto& capacity = resources_[index(id)].capacity;
  if (capacity) capacity = *capacity * times;
  capacities_[index(id)] = capacity;
}

void Resources::widen(EngineId id, int slots) {
  auto& engine = engines_[index(id)];
  engine.slots += slots;
  if (!engine.is_assumed()) return;
  engine.fewest += slots;
  engine.most += slots;
}

void Resources::add_functions(Machine const& machine) {
  auto const count = machine.functions.size();
  auto const linked = linked_gpus(machine);
  links_.resize(count);
  fabrics_.resize(count);
  host_duplexes_.resize(count);
  socket_ports_.resize(count);
  driver_stagings_.resize(count);
  device_memories_.resize(count);
  copy_engines_.resize(count);
  peer_copy_engines_.resize(count);
  multiprocessors_.resize(count);
  wires_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto const id = PciId(i);
    auto const& function = machine.at(id);
    auto const* part = machine.part_of(id);
    if (function.kind != PciKind::RootPort) add_link(machine, id);
    bool const at_root = !function.parent || machine.at(*function.parent).kind == PciKind::RootPort;
    if (function.kind != PciKind::RootPort && at_root) {
      add_host_duplex(machine, id);
      add_socket_port(machine, id);
    }
    if (function.kind == PciKind::Switch && !function.chip.empty() && part != nullptr &&
        part->pcie_switch.virtual_switch_fabric)
      fabrics_[i] = add_duplex(function.name, ".fabric.out", ".fabric.in", ResourceKind::ChipFabric,
                               part->pcie_switch.virtual_switch_fabric);
    if (function.kind == PciKind::Gpu) {
      auto const bandwidth = part != nullptr ? part->gpu.memory_bandwidth : std::nullopt;
      device_memories_[i] =
          add(function.name + ".memory", ResourceKind::DeviceMemory,
              bandwidth ? std::optional(*bandwidth * figures::device_memory_efficiency(part)) : std::nullopt,
              fmt::format("the memory bandwidth of '{}'", function.name));
      mark_set_by(device_memories_[i], part, "memory_bandwidth");
      add_driver_staging(machine, id);
      add_engines(machine, id, linked[i]);
    }
    if (function.kind == PciKind::Nvme) {
      wires_[i] = {add(function.name + ".reads", ResourceKind::Drive,
                       part != nullptr ? part->nvme.read_bandwidth : std::nullopt),
                   add(function.name + ".writes", ResourceKind::Drive,
                       part != nullptr ? part->nvme.write_bandwidth : std::nullopt)};
      mark_estimated(wires_[i].up, part, "read_bandwidth");
      mark_estimated(wires_[i].down, part, "write_bandwidth");
    }
    if (function.kind == PciKind::Nic && port_owner(machine, id) == id) {
      wires_[i] = add_duplex(function.name, ".wire.out", ".wire.in", ResourceKind::Wire,
                             network::port_rate(machine, id), fmt::format("the rate of '{}'", function.name));
      if (!function.rate) mark_set_by(wires_[i], part, "rate");
    }
  }
}

void Resources::share_ports(Machine const& machine) {
  for (auto const nic : machine.all(PciKind::Nic)) wires_[index(nic)] = wires_[index(port_owner(machine, nic))];
}

void Resources::add_engines(Machine const& machine, PciId gpu, int linked) {
  auto const& name = machine.at(gpu).name;
  auto const* part = machine.part_of(gpu);
  auto const engines = figures::copy_engines(part);
  copy_engines_[index(gpu)] = EngineId(engines_.size());
  engines_.push_back(
      {name + ".copy_engines", engines.count, engines.assumed ? engines.low : 0, engines.assumed ? engines.high : 0});
  peer_copy_engines_[index(gpu)] = copy_engines_[index(gpu)];
  if (auto const peers = figures::peer_copy_engines(part, linked)) {
    peer_copy_engines_[index(gpu)] = EngineId(engines_.size());
    engines_.push_back(
        {name + ".peer_copy_engines", peers->count, peers->assumed ? peers->low : 0, peers->assumed ? peers->high : 0});
  }
  multiprocessors_[index(gpu)] = EngineId(engines_.size());
  engines_.push_back({.name = name + ".multiprocessors"});
}

std::optional<BytesPerSecond> Resources::one_way(Machine const& machine, PciId id, Link const& link, bool upward) {
  if (!link.link) return std::nullopt;
  auto const utilisation = figures::link_utilisation(machine.part_of(id), upward, link.link->generation);
  return pcie::capacity(*link.link, link.payload, utilisation);
}

void Resources::add_link(Machine const& machine, PciId id) {
  auto const& function = machine.at(id);
  auto const* cpu = machine.part_of(machine.socket_of(id));
  bool const below_switch = function.parent && machine.at(*function.parent).kind == PciKind::Switch;
  auto const* above = below_switch ? machine.part_of(*function.parent) : cpu;
  Link link;
  link.link = function.link;
  link.payload = payload_between(machine.part_of(id), above);
  if (!link.link) {
    link.link = assumed_link(machine, id);
    link.assumed = link.link.has_value();
  }
  auto const missing = missing_link(machine, id);
  auto const direction = [&](std::string const& name, bool upward) {
    return add(function.name + name, ResourceKind::PcieLink, one_way(machine, id, link, upward), missing);
  };
  link.direction.up = direction(".pcie.up", true);
  link.direction.down = direction(".pcie.down", false);
  if (link.assumed) mark_generic(link.direction, machine.part_of(id), above);
  links_[index(id)] = link;
}

void Resources::add_driver_staging(Machine const& machine, PciId gpu) {
  auto const& link = links_[index(gpu)];
  if (!link.link) return;
  auto const& name = machine.at(gpu).name;
  auto const up = overheads::kDriverChunk / *capacity(link.direction.up);
  auto const down = overheads::kDriverChunk / *capacity(link.direction.down);
  auto const* part = machine.part_of(gpu);
  bool const in_turn = part != nullptr && part->gpu.staged_legs == StagedLegs::InTurn;
  auto const staged =
      overheads::kDriverChunk / ((in_turn ? up + down : std::max(up, down)) + figures::staged_gap(part));
  auto const both =
      add(name + ".driver_staging", ResourceKind::DriverStaging, staged * (2 * figures::staged_duplex(part)));
  if (link.assumed) mark_generic(both, part, machine.part_of(machine.socket_of(gpu)));
  driver_stagings_[index(gpu)] = both;
}

void Resources::add_nvlinks(Machine const& machine) {
  // Payload of `count` links in one direction at a share of their raw rate.
  auto const carried = [](Part const& part, int count, double share) {
    return part.link.rate ? std::optional(*part.link.rate * (count * share)) : std::nullopt;
  };
  auto const made = [&](std::string const& stem, std::string const& up, std::string const& down, PartId id, int count,
                        std::pair<double, double> shares) {
    auto const& part = machine.at(id);
    auto const missing = fmt::format("the rate of '{}'", part.name);
    NvlinkPath path;
    path.part = id;
    auto const forth = carried(part, count, shares.first);
    path.direction.up = add(stem + up, ResourceKind::Nvlink, forth, missing);
    path.direction.down = add(stem + down, ResourceKind::Nvlink, carried(part, count, shares.second), missing);
    auto const duplex = figures::duplex(part.link);
    mark_set_by(path.direction, &part, "rate");
    if (forth && duplex < 1) {
      path.both = add(stem + ".both", ResourceKind::NvlinkBoth, *forth * (2 * duplex));
      mark_set_by(*path.both, &part, "rate");
    }
    return path;
  };
  // Payload shares of a bundle's two directions; the one towards a CPU may differ.
  auto const shares_of = [&](NvlinkBundle const& bundle) {
    auto const& link = machine.at(bundle.part).link;
    auto const nominal = figures::copy_efficiency(link);
    auto const towards = [&](NvlinkEnd const& end) {
      return std::holds_alternative<SocketId>(end) ? link.copy_efficiency_to_cpu.value_or(nominal) : nominal;
    };
    return std::pair(towards(bundle.b), towards(bundle.a));
  };
  for (auto const& bundle : machine.nvlinks) {
    auto const& a = end_name(machine, bundle.a);
    auto const& b = end_name(machine, bundle.b);
    auto const short_b = b.substr(b.find('/') + 1);
    bundles_.push_back(
        made(fmt::format("{}-{}.nvlink", a, short_b), ".forth", ".back", bundle.part, bundle.count, shares_of(bundle)));
  }
  for (auto const& domain : machine.nvswitches) {
    auto& ports = ports_.emplace_back();
    for (auto const& port : domain.ports)
      ports.push_back(made(machine.at(port.gpu).name + ".nvlink", ".out", ".in", domain.link_part, port.count,
                           {figures::copy_efficiency(machine.at(domain.link_part).link),
                            figures::copy_efficiency(machine.at(domain.link_part).link)}));
  }
}

namespace {

std::optional<BytesPerSecond> scaled(std::optional<BytesPerSecond> rate, double by) {
  return rate ? std::optional(*rate * by) : std::nullopt;
}

}  // namespace

void Resources::add_nic_ports(Machine const& machine) {
  auto const& fabric = *machine.fabric;
  nic_ports_.resize(fabric.attachments.size());
  auto const first_of = [&](std::span<Fabric::Attachment const> some) {
    return static_cast<std::size_t>(some.data() - fabric.attachments.data());
  };
  auto const nics = machine.all(PciKind::Nic);
  for (auto const nic : nics) {
    auto const cables = fabric.attachments_of(nic);
    if (cables.size() < 2 || port_owner(machine, nic) != nic) continue;
    for (std::size_t i = 0; i < cables.size(); ++i)
      nic_ports_[first_of(cables) + i] =
          add_duplex(fmt::format("{}.port{}", machine.at(nic).name, i), ".out", ".in", ResourceKind::Wire,
                     scaled(network::payload_rate(machine, nic, cable_rate(machine, cables[i])),
                            fabric_ways_->weight_scale(fabric.switches[cables[i].at].network)));
  }
  for (auto const nic : nics) {
    auto const cables = fabric.attachments_of(nic);
    if (cables.size() < 2 || port_owner(machine, nic) == nic) continue;
    auto const owner = first_of(fabric.attachments_of(port_owner(machine, nic)));
    for (std::size_t i = 0; i < cables.size(); ++i) nic_ports_[first_of(cables) + i] = nic_ports_[owner + i];
  }
}

void Resources::add_network(Machine const& machine) {
  if (!machine.fabric) return;
  auto const& fabric = *machine.fabric;
  fabric_ways_ = std::make_shared<FabricWays const>(fabric);
  add_nic_ports(machine);
  for (auto const& trunk : fabric.trunks) {
    auto const& lower = fabric.switches[trunk.lower];
    auto const& upper = fabric.switches[trunk.upper];
    bool const is_uplink = fabric_ways_->is_tree() && lower.tier < upper.tier;
    auto const stem = is_uplink ? lower.name + ".uplink" : fmt::format("{}-{}", lower.name, upper.name);
    auto const* up = is_uplink ? ".up" : ".forth";
    auto const* down = is_uplink ? ".down" : ".back";
    // Where the NICs' rates are unknown, so are the cables'.
    auto const rate = scaled(trunk.rate > BytesPerSecond(0) ? std::optional(trunk.rate) : std::nullopt,
                             fabric_ways_->weight_scale(lower.network));
    trunks_.push_back(add_duplex(stem, up, down, ResourceKind::Uplink, rate));
    auto& cables = cables_.emplace_back();
    if (!is_by_cable(fabric.network_of(trunk.lower))) continue;
    for (int i = 0; i < trunk.cables; ++i)
      cables.push_back(add_duplex(fmt::format("{}{}", stem, i), up, down, ResourceKind::Uplink,
                                  rate ? std::optional(*rate / static_cast<double>(trunk.cables)) : std::nullopt));
  }
}

}  // namespace lanewise
