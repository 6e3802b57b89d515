// PCIe between devices: links, switches, root complexes, peer access, and CPU access through BAR1.
#include <algorithm>
#include <utility>

#include "core/model/lowering/lowering.hpp"
#include "core/model/resources/pcie.hpp"

namespace lanewise {

using namespace literals;

void PathBuilder::use_link(PciId id, bool upstream, double weight, std::optional<Bytes> forced_payload) {
  auto const& above = resources_.link_above(id);
  auto const direction = upstream ? above.direction.up : above.direction.down;
  double penalty = 1;
  if (forced_payload && above.link && *forced_payload < above.payload)
    penalty = pcie::packet_penalty(above.link->generation, *forced_payload, above.payload);
  if (penalty > 1) return use_in_small_packets(direction, weight * penalty);
  use(direction, weight);
}

// The links upstream of a function: up to `last`, or to the host bridge.
void PathBuilder::add_upstream(PacketFlow const& flow, std::optional<PciId> last, std::optional<Bytes> forced_payload) {
  if (flow.data) hop(HopKind::Function, static_cast<std::uint32_t>(index(flow.from)));
  for (auto at = flow.from; at != last;) {
    if (machine_.at(at).kind != PciKind::RootPort) use_link(at, true, flow.weight, forced_payload);
    auto const parent = machine_.at(at).parent;
    if (!parent) break;
    if (flow.data) hop(HopKind::Function, static_cast<std::uint32_t>(index(*parent)));
    at = *parent;
  }
}

// The links downstream to a function: from `first`, or from the host bridge.
void PathBuilder::add_downstream(PacketFlow const& flow, std::optional<PciId> first,
                                 std::optional<Bytes> forced_payload) {
  InlineVector<PciId, 16> chain;
  for (std::optional<PciId> at = flow.to; at && at != first; at = machine_.at(*at).parent) chain.push_back(*at);
  for (std::size_t i = chain.size(); i > 0; --i) {
    auto const id = chain[i - 1];
    if (machine_.at(id).kind != PciKind::RootPort) use_link(id, false, flow.weight, forced_payload);
    if (flow.data) hop(HopKind::Function, static_cast<std::uint32_t>(index(id)));
  }
}

bool PathBuilder::is_below(PciId id, PciId above) const {
  for (auto up = machine_.at(id).parent; up; up = machine_.at(*up).parent)
    if (*up == above) return true;
  return false;
}

// The size of a device's read requests: what it is set to, or one piece of the access where that is less.
Bytes PathBuilder::read_request_size(PciId device) const {
  auto const* part = machine_.part_of(device);
  auto const request = part != nullptr ? part->pcie.max_read_request.value_or(overheads::kDefaultReadRequest)
                                       : overheads::kDefaultReadRequest;
  if (by_cache_line_) return std::min(request, overheads::kCacheLine);
  return access_.each > Bytes(0) ? std::min(request, access_.each) : request;
}

// The mean payload of the packets that carry one piece of the access; the last of them is rarely full.
std::optional<Bytes> PathBuilder::mean_payload(PciId device) const {
  if (access_.each <= Bytes(0)) return std::nullopt;
  auto const full = resources_.link_above(device).payload;
  auto const packets = (access_.each.value() + full.value() - 1) / full.value();
  return Bytes(access_.each.value() / packets);
}

void PathBuilder::limit_outstanding_reads(PciId initiator, Seconds round_trip) {
  auto const* part = machine_.part_of(initiator);
  auto const tags = part != nullptr ? part->pcie.tags.value_or(overheads::kDefaultTags) : overheads::kDefaultTags;
  limit(pcie::outstanding_read_limit(tags, read_request_size(initiator), round_trip), Cap::OutstandingReads);
}

// One way from endpoint to endpoint: both endpoints, every switch pass, and the root complex where the packets go
// there.
Seconds PathBuilder::peer_latency(PciId from, PciId to, TurnPoint turn, PeerRoute const& route) const {
  auto total = endpoint_latency(from) + endpoint_latency(to);
  if (turn == TurnPoint::Switch) {
    total +=
        switch_latencies(from, route.meeting) + switch_latencies(to, route.meeting) + switch_latency(*route.meeting);
    return total * assumed_(Parameter::PathLatency);
  }
  if (turn == TurnPoint::Chip) {
    bool const with_initiator = is_below(from, *route.meeting);
    for (auto const& [end, last] : {std::pair(from, with_initiator ? *route.meeting : *route.far),
                                    std::pair(to, with_initiator ? *route.far : *route.meeting)})
      total += switch_latencies(end, last) + switch_latency(last);
  } else {
    total += switch_latencies(from, std::nullopt) + switch_latencies(to, std::nullopt);
    auto const a = machine_.socket_of(from);
    auto const b = machine_.socket_of(to);
    total += root_complex_latency(a) + socket_latency(a, b);
  }
  return total * assumed_(Parameter::PathLatency);
}

void PathBuilder::add_packets(PacketFlow const& flow, TurnPoint turn, PeerRoute const& route) {
  if (turn == TurnPoint::Switch) {
    add_upstream(flow, route.meeting);
    add_downstream(flow, route.meeting, std::nullopt);
    return;
  }
  if (turn == TurnPoint::Chip) {
    bool const with_initiator = is_below(flow.from, *route.meeting);
    auto const from = with_initiator ? *route.meeting : *route.far;
    auto const to = with_initiator ? *route.far : *route.meeting;
    add_upstream(flow, from);
    use(resources_.fabric_of(from)->up, flow.weight);
    use(resources_.fabric_of(to)->down, flow.weight);
    if (flow.data) hop(HopKind::ChipFabric, static_cast<std::uint32_t>(index(from)));
    if (flow.data) hop(HopKind::Function, static_cast<std::uint32_t>(index(to)));
    add_downstream(flow, to, std::nullopt);
    return;
  }
  auto const from = machine_.socket_of(flow.from);
  auto const to = machine_.socket_of(flow.to);
  auto const* cpu = machine_.part_of(to);
  add_upstream(flow, std::nullopt);
  if (auto const bridge = resources_.host_bridge(machine_.at(flow.from).host_bridge)) use(bridge->up, flow.weight);
  use_iommu(from, flow.data);
  if (flow.data) hop(HopKind::RootComplex, static_cast<std::uint32_t>(index(from)));
  cross_sockets(from, to, true, flow.weight, flow.data);
  if (from != to) use_socket_ports(flow.from, flow.to, flow.weight);
  if (flow.data) hop(HopKind::RootComplex, static_cast<std::uint32_t>(index(to)));
  if (auto const bridge = resources_.host_bridge(machine_.at(flow.to).host_bridge)) use(bridge->down, flow.weight);
  add_downstream(flow, std::nullopt, flow.data && cpu != nullptr ? cpu->cpu.peer_payload : std::nullopt);
}

Seconds PathBuilder::peer(PciId source, PciId target, bool pulled) {
  auto const initiator = pulled ? target : source;
  auto const other = pulled ? source : target;
  auto const route = peer_route(machine_, initiator, other);
  add_packets({source, target, 1, true}, route.data(pulled), route);
  auto latency = peer_latency(initiator, other, route.request, route);
  auto const socket = machine_.socket_of(other);
  auto const* cpu = machine_.part_of(socket);
  if (route.request == TurnPoint::RootComplex) latency += iommu_walk_latency(machine_.socket_of(initiator));
  if (!pulled) return latency;
  latency += peer_latency(other, initiator, route.completion, route);
  add_packets({initiator, other, pcie::read_request_share(read_request_size(initiator)), false}, route.request, route);
  limit_outstanding_reads(initiator, latency);
  if (route.through_root_complex(true) && cpu != nullptr && cpu->cpu.peer_read_bandwidth)
    limit(*cpu->cpu.peer_read_bandwidth * assumed_(Parameter::RootComplexPeer), Cap::PeerReads);
  return latency;
}

void Lowering::pcie_p2p() {
  bool const pulled = way_.drive == Drive::Pull;
  demand_.path = path_.peer(gpu_from(), gpu_to(), pulled);
  add_bar1_remaps(gpu_from(), gpu_to(), pulled);
  start_on(pulled ? gpu_to() : gpu_from());
}

// A buffer larger than the peer's BAR1 window is mapped piece by piece; each further piece costs one pin.
void Lowering::add_bar1_remaps(PciId from, PciId to, bool pulled) {
  auto const* part = machine_.part_of(pulled ? from : to);
  if (part == nullptr) return;
  auto const window = bar1_window(*part);
  if (!window || *window <= 0_B || bytes_ <= *window) return;
  auto const remaps = (bytes_.value() - 1) / window->value();
  demand_.path += host_time(overheads::kBarPin) * static_cast<double>(remaps);
}

void Lowering::bar_copy() {
  if (auto const g = gpu(from_)) {
    path_.device_to_memory(*g, way_.staging.value_or(machine_.numa_of(*g)));  // its time is in the figure below
    demand_.start += overheads::kBarReadStart * assumed_(Parameter::BarAccess);
    path_.limit(overheads::kBarReadRate * assumed_(Parameter::BarAccess), Cap::BarRead);
    add_bar1_remaps(*g, *g, true);
  }
  if (auto const g = gpu(to_)) {
    demand_.path += path_.memory_to_device(way_.staging.value_or(machine_.numa_of(*g)), *g);
    demand_.start += overheads::kBarWriteStart * assumed_(Parameter::BarAccess);
    path_.limit(overheads::kBarWriteRate * assumed_(Parameter::BarAccess), Cap::BarWrite);
    add_bar1_remaps(*g, *g, false);
  }
}

}  // namespace lanewise
