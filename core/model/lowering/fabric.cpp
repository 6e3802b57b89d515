// The network between the nodes of a cluster: NIC ports, and the cables between switches.
#include <fmt/format.h>

#include <algorithm>

#include "core/machine/fabric_ways.hpp"
#include "core/machine/nic_rate.hpp"
#include "core/model/lowering/path_builder.hpp"
#include "core/model/resources/network.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

// Spreads its input over all 64 bits (the finaliser of MurmurHash3).
std::uint64_t mixed(std::uint64_t of) {
  of ^= of >> 33U;
  of *= 0xff51afd7ed558ccdULL;
  of ^= of >> 33U;
  of *= 0xc4ceb9fe1a85ec53ULL;
  of ^= of >> 33U;
  return of;
}

// A cable of the one NIC and one of the other in the same plane of their network, and what it takes of their traffic.
struct Plane {
  Fabric::Attachment const* from = nullptr;
  Fabric::Attachment const* to = nullptr;
  double share = 1;
};

// Packets are sprayed over all planes, by what their cables carry.
std::vector<Plane> planes_between(Machine const& machine, FabricWays const& ways, PciId from, PciId to) {
  std::vector<Plane> planes;
  double total = 0;
  for (auto const& a : machine.fabric->attachments_of(from))
    for (auto const& b : machine.fabric->attachments_of(to)) {
      if (ways.island_of(a.at) != ways.island_of(b.at)) continue;
      auto const one = cable_rate(machine, a);
      auto const other = cable_rate(machine, b);
      planes.push_back({&a, &b, one && other ? std::max(std::min(*one, *other).value(), 1.0) : 1.0});
      total += planes.back().share;
    }
  for (auto& plane : planes) plane.share /= total;
  return planes;
}

}  // namespace

void PathBuilder::wire_out(PciId nic) { use(resources_.wire(nic).up); }

void PathBuilder::wire_in(PciId nic) { use(resources_.wire(nic).down); }

double PathBuilder::weight_of_adding(PciId nic) const {
  if (!machine_.fabric) return 1;
  auto const of_nic = network::payload_efficiency(machine_.part_of(nic));
  double weight = 1;
  for (auto const& attachment : machine_.fabric->attachments_of(nic)) {
    auto const& part = machine_.fabric->switches[attachment.at].part;
    auto const efficiency = part ? machine_.at(*part).hop.reduction_efficiency : std::nullopt;
    if (efficiency) weight = std::max(weight, of_nic / *efficiency);
  }
  return weight;
}

Seconds PathBuilder::wire_to_adding_switches(PciId from, PciId to) {
  auto const latency = wire(from, to);
  // What the wires carry already counts once.
  if (auto const more = weight_of_adding(from) - 1; more > 0) use(resources_.wire(from).up, more);
  if (auto const more = weight_of_adding(to) - 1; more > 0) use(resources_.wire(to).down, more);
  return latency;
}

Seconds PathBuilder::wire(PciId from, PciId to) {
  auto latency = std::max(network::wire_latency(machine_, from), network::wire_latency(machine_, to));
  auto const planes =
      machine_.fabric ? planes_between(machine_, resources_.fabric_ways(), from, to) : std::vector<Plane>();
  if (planes.empty())
    throw PlanError(fmt::format("no fabric joins '{}' and '{}'", machine_.at(from).name, machine_.at(to).name));
  hop(HopKind::Function, static_cast<std::uint32_t>(index(from)));
  wire_out(from);
  FabricWay way;
  for (auto const& plane : planes) {
    auto taken = use_fabric(*plane.from, *plane.to, plane.share);
    if (way.passed.empty()) way = std::move(taken);
  }
  if (machine_.fabric->network_of(planes.front().from->at).kind != "direct")
    for (auto const passed : way.passed) {
      hop(HopKind::NetworkSwitch, passed);
      latency += network::pass_latency(machine_, passed);
    }
  wire_in(to);
  hop(HopKind::Function, static_cast<std::uint32_t>(index(to)));
  return latency * assumed_(Parameter::NetworkLatency);
}

// The cables that the part of the traffic between two NICs that is in one plane takes: all of a trunk evenly; with
// static routing those of the destination; with ecmp those of each flow where the hash is known, and all of them evenly
// where it is not.
FabricWay PathBuilder::use_fabric(Fabric::Attachment const& from, Fabric::Attachment const& to, double plane_share) {
  auto const& fabric = *machine_.fabric;
  auto const& network = fabric.network_of(from.at);
  auto const number = [&](Fabric::Attachment const& of) {
    return static_cast<std::size_t>(&of - fabric.attachments.data());
  };
  auto const scale = resources_.fabric_ways().weight_scale(fabric.switches[from.at].network);
  if (auto const port = resources_.port(number(from))) use(port->up, plane_share * scale);
  if (auto const port = resources_.port(number(to))) use(port->down, plane_share * scale);
  auto const target = resources_.fabric_ways().rank_of(number(to));
  auto const seed = network.routing == Routing::Ecmp ? assumed_.hash_seed() : std::nullopt;
  bool const by_cable = seed || network.routing == Routing::Static;
  auto const flows = network.routing == Routing::Ecmp ? network.flows_per_pair : 1;
  FabricWay first;
  for (int flow = 0; flow < (by_cable ? flows : 1); ++flow) {
    auto const hash = seed ? mixed(mixed(mixed(*seed + 1) ^ index(from.nic)) ^ (index(to.nic) << 5U) ^
                                   static_cast<std::uint64_t>(flow))
                           : std::uint64_t{target};
    auto way = resources_.fabric_ways().between(from.at, to.at, hash);
    if (!way)
      throw PlanError(fmt::format("no cables join the switches of '{}' and '{}'", machine_.at(from.nic).name,
                                  machine_.at(to.nic).name));
    for (auto const& [trunk, up, share] : way->uses) {
      auto const cables = static_cast<std::uint64_t>(fabric.trunks[trunk].cables);
      // A spine that a flow climbs to is the one that it descends from: one choice a tier.
      auto const tier = static_cast<std::uint64_t>(fabric.switches[fabric.trunks[trunk].lower].tier);
      auto const choice = (seed ? mixed(hash + tier) : hash) % cables;
      auto const both = by_cable ? resources_.cable(trunk, choice) : resources_.trunk(trunk);
      use(up ? both.up : both.down, plane_share * scale * share / (by_cable ? flows : 1));
      if (is_by_cable(network) && fabric.trunks[trunk].rate > BytesPerSecond(0))
        limit(fabric.trunks[trunk].rate * (static_cast<double>(flows) / static_cast<double>(cables) / plane_share),
              Cap::Cable);
    }
    if (flow == 0) first = std::move(*way);
  }
  return first;
}

}  // namespace lanewise
