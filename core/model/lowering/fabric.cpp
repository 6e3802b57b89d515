// The network between the nodes of a cluster: NIC ports, leaf switches, uplinks to spines.
#include <fmt/format.h>

#include <algorithm>

#include "core/model/lowering/path_builder.hpp"
#include "core/model/resources/network.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {

void PathBuilder::wire_out(PciId nic) { use(resources_.wire(nic).up); }

void PathBuilder::wire_in(PciId nic) { use(resources_.wire(nic).down); }

Seconds PathBuilder::wire(PciId from, PciId to) {
  auto latency = std::max(network::wire_latency(machine_, from), network::wire_latency(machine_, to));
  hop(HopKind::Function, static_cast<std::uint32_t>(index(from)));
  wire_out(from);
  auto const leaf_of = [&](PciId nic) -> std::optional<std::uint32_t> {
    auto const* attachment = machine_.fabric ? machine_.fabric->find(nic) : nullptr;
    return attachment != nullptr ? std::optional(attachment->leaf) : std::nullopt;
  };
  auto const a = leaf_of(from);
  auto const b = leaf_of(to);
  if (!a || !b)
    throw PlanError(fmt::format("no fabric joins '{}' and '{}'", machine_.at(from).name, machine_.at(to).name));
  auto const pass = machine_.fabric->switch_part
                        ? machine_.at(*machine_.fabric->switch_part).hop.latency.value_or(Seconds(0))
                        : Seconds(0);
  if (machine_.fabric->kind != "direct") {
    hop(HopKind::Leaf, *a);
    latency += pass;
  }
  if (*a != *b) {
    auto const up = resources_.uplink(*a);
    auto const down = resources_.uplink(*b);
    if (!up || !down)
      throw PlanError(fmt::format("the leaves of '{}' and '{}' have no uplink to a spine", machine_.at(from).name,
                                  machine_.at(to).name));
    use(up->up);
    use(down->down);
    hop(HopKind::Spine, 0);
    hop(HopKind::Leaf, *b);
    latency += pass * 2.0;
  }
  wire_in(to);
  hop(HopKind::Function, static_cast<std::uint32_t>(index(to)));
  return latency * assumed_(Parameter::NetworkLatency);
}

}  // namespace lanewise
