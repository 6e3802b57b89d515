// The network between the nodes of a cluster: NIC ports, and the cables between switches.
#include <fmt/format.h>

#include <algorithm>

#include "core/machine/fabric_ways.hpp"
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

Fabric::Attachment const& attachment_of(Machine const& machine, PciId nic, PciId other) {
  auto const* found = machine.fabric ? machine.fabric->find(nic) : nullptr;
  if (found == nullptr)
    throw PlanError(fmt::format("no fabric joins '{}' and '{}'", machine.at(nic).name, machine.at(other).name));
  return *found;
}

}  // namespace

void PathBuilder::wire_out(PciId nic) { use(resources_.wire(nic).up); }

void PathBuilder::wire_in(PciId nic) { use(resources_.wire(nic).down); }

Seconds PathBuilder::wire(PciId from, PciId to) {
  auto latency = std::max(network::wire_latency(machine_, from), network::wire_latency(machine_, to));
  auto const& source = attachment_of(machine_, from, to);
  auto const& target = attachment_of(machine_, to, from);
  auto const& fabric = *machine_.fabric;
  hop(HopKind::Function, static_cast<std::uint32_t>(index(from)));
  wire_out(from);
  auto const way = use_fabric(source, target);
  if (fabric.kind != "direct")
    for (auto const passed : way.passed) {
      hop(HopKind::NetworkSwitch, passed);
      latency += network::pass_latency(machine_, passed);
    }
  wire_in(to);
  hop(HopKind::Function, static_cast<std::uint32_t>(index(to)));
  return latency * assumed_(Parameter::NetworkLatency);
}

// The cables that the traffic between two NICs takes: all of a trunk evenly; with static routing those of the
// destination; with ecmp those of each flow where the hash is known, and all of them evenly where it is not.
FabricWay PathBuilder::use_fabric(Fabric::Attachment const& from, Fabric::Attachment const& to) {
  auto const& fabric = *machine_.fabric;
  auto const target = resources_.fabric_ways().rank_of(static_cast<std::size_t>(&to - fabric.attachments.data()));
  auto const seed = fabric.routing == Routing::Ecmp ? assumed_.hash_seed() : std::nullopt;
  bool const by_cable = seed || fabric.routing == Routing::Static;
  auto const flows = fabric.routing == Routing::Ecmp ? fabric.flows_per_pair : 1;
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
      use(up ? both.up : both.down, share / (by_cable ? flows : 1));
      if (fabric.routing != Routing::Adaptive && fabric.trunks[trunk].rate > BytesPerSecond(0))
        limit(fabric.trunks[trunk].rate * (static_cast<double>(flows) / static_cast<double>(cables)), Cap::Cable);
    }
    if (flow == 0) first = std::move(*way);
  }
  return first;
}

}  // namespace lanewise
