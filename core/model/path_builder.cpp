#include "core/model/path_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/error.hpp"
#include "core/model/figures.hpp"
#include "core/model/model.hpp"
#include "core/model/network.hpp"
#include "core/model/overheads.hpp"
#include "core/model/pcie.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

// Packets of generation 3 and later have the same header; which of them it is makes no difference.
constexpr int kCrossingGeneration = 3;

}  // namespace

PathBuilder::PathBuilder(Model const& model, Demand& demand)
    : machine_(model.machine()), resources_(model.resources()), assumed_(model.assumed()), demand_(demand) {}

// ------------------------------------------------------------------------------------------------------- bookkeeping

void PathBuilder::use(ResourceId id, double weight) {
  if (weight * Weight::kBase < 0.5) return;  // below the resolution of weights: requests of large reads
  add({id, Weight::of(weight)});
}

void PathBuilder::add(Use use) {
  if (!demand_.unknown && !resources_.capacity(use.resource)) demand_.unknown = use.resource;
  for (auto& known : demand_.uses)
    if (known.resource == use.resource) return known.weight.add(use.weight);
  demand_.uses.push_back(use);
}

void PathBuilder::scale(double factor) {
  for (auto& use : demand_.uses) use.weight = Weight::floor_of(use.weight.ratio() * factor);
}

void PathBuilder::scale_in_turn(double factor) {
  decltype(demand_.uses) kept;
  for (auto use : demand_.uses) {
    auto const kind = resources_.at(use.resource).kind;
    if (kind == ResourceKind::HostDuplex) continue;  // only the one leg is there
    // What both legs use is used all the time; what one uses, every other time (beside the other's read requests).
    bool const both_legs = use.weight.ratio() > 1.5;
    auto const own = both_legs || use.weight.ratio() < 1 ? use.weight.ratio() : 1.0;
    use.weight = Weight::floor_of(own * factor * (both_legs ? 1.0 : 2.0));
    kept.push_back(use);
  }
  demand_.uses = kept;
}

void PathBuilder::append(Demand const& leg) {
  for (auto const& use : leg.uses) add(use);
  for (auto const& passed : leg.route) hop(passed.kind, passed.id);
  limit(leg.cap, leg.cap_reason);
}

void PathBuilder::use_in_small_packets(ResourceId id, double weight, Cap reason) {
  if (weight <= 1) return use(id, weight);
  use(id, Weight::floor_of(weight).ratio());
  if (auto const capacity = resources_.capacity(id, assumed_)) limit(*capacity / weight, reason);
}

void PathBuilder::hop(HopKind kind, std::uint32_t id) {
  Hop const next{kind, id};
  if (demand_.route.empty() || !(demand_.route.back() == next)) demand_.route.push_back(next);
}

void PathBuilder::limit(BytesPerSecond cap, Cap reason) {
  if (cap >= demand_.cap) return;
  demand_.cap = cap;
  demand_.cap_reason = reason;
}

std::optional<BytesPerSecond> PathBuilder::rate() const {
  if (demand_.unknown) return std::nullopt;
  auto rate = demand_.cap;
  for (auto const& use : demand_.uses)
    rate = std::min(rate, *resources_.capacity(use.resource, assumed_) / use.weight.ratio());
  return rate;
}

// --------------------------------------------------------------------------------------------------------- latencies

Seconds PathBuilder::endpoint(PciId id) const { return figures::endpoint_latency(machine_.part_of(id)); }

Seconds PathBuilder::pass(PciId pcie_switch) const { return figures::switch_latency(machine_.part_of(pcie_switch)); }

// Passes through the switches above `from` up to and including `stop`, or all of them.
Seconds PathBuilder::switches(PciId from, std::optional<PciId> stop) const {
  Seconds total{0};
  if (stop == from) return total;
  for (auto up = machine_.at(from).parent; up; up = machine_.at(*up).parent) {
    if (machine_.at(*up).kind != PciKind::Switch) break;
    if (up != stop) total += pass(*up);
    if (up == stop) break;
  }
  return total;
}

Seconds PathBuilder::root_complex(SocketId socket) const {
  return figures::root_complex_latency(machine_.part_of(socket));
}

Seconds PathBuilder::socket_hop(SocketId a, SocketId b) const {
  if (a == b) return Seconds(0);
  auto const* pair = resources_.socket_pair(a, b);
  return pair != nullptr ? pair->latency : overheads::kSocketHop;
}

// One way from endpoint to endpoint: both endpoints, every switch pass, the root complex where packets turn there.
Seconds PathBuilder::peer_latency(PciId from, PciId to, TurnPoint turn, PeerRoute const& route) const {
  auto total = endpoint(from) + endpoint(to);
  if (turn == TurnPoint::Switch) {
    total += switches(from, route.meeting) + switches(to, route.meeting) + pass(*route.meeting);
    return total * assumed_(Parameter::PathLatency);
  }
  if (turn == TurnPoint::Chip) {
    bool const with_initiator = hangs_below(from, *route.meeting);
    for (auto const& [end, last] : {std::pair(from, with_initiator ? *route.meeting : *route.far),
                                    std::pair(to, with_initiator ? *route.far : *route.meeting)})
      total += switches(end, last) + pass(last);
  } else {
    total += switches(from, std::nullopt) + switches(to, std::nullopt);
    auto const a = machine_.socket_of(from);
    auto const b = machine_.socket_of(to);
    total += root_complex(a) + socket_hop(a, b);
  }
  return total * assumed_(Parameter::PathLatency);
}

// One page-table walk, where the requests of a socket's devices are translated.
Seconds PathBuilder::walk_latency(SocketId socket) const {
  auto const& settings = machine_.at(machine_.at(socket).host).settings;
  auto const* cpu = machine_.part_of(socket);
  if (!translates(settings.iommu) || settings.virtualization.ats || cpu == nullptr) return Seconds(0);
  return cpu->cpu.iommu_walk_latency.value_or(overheads::kIommuWalk) *
         (misses(socket) * assumed_(Parameter::PathLatency));
}

// The share of translations that the IOTLB does not hold. In bulk every page is new, once: its first touch waits.
// Random touches of a window miss as much of it as the IOTLB cannot hold, touches in turn once a page when it cannot
// hold all. Source: Neugebauer et al., SIGCOMM 2018, section 6.5, and the knee just above 64 x 4 KiB in
// pcie-bench/data.
double PathBuilder::misses(SocketId socket) const {
  auto const* cpu = machine_.part_of(socket);
  if (access_.each <= Bytes(0) || cpu == nullptr) return 1;
  auto const page = machine_.at(machine_.at(socket).host).settings.iommu_page;
  auto const reach = page * cpu->cpu.iotlb_entries.value_or(overheads::kIotlbEntries);
  if (access_.window <= reach) return 0;
  return access_.random ? 1 - reach / access_.window : std::min(1.0, access_.each / page);
}

// One way between a device and host memory: half a root complex turn-around reaches the memory side.
Seconds PathBuilder::memory_latency(PciId device, NumaId memory) const {
  auto const socket = machine_.socket_of(device);
  return (endpoint(device) + switches(device, std::nullopt) + root_complex(socket) * 0.5 +
          socket_hop(socket, machine_.at(memory).socket)) *
         assumed_(Parameter::PathLatency);
}

void PathBuilder::limit_reads(PciId initiator, Seconds round_trip) {
  auto const* part = machine_.part_of(initiator);
  auto const tags = part != nullptr ? part->pcie.tags.value_or(overheads::kDefaultTags) : overheads::kDefaultTags;
  limit(pcie::outstanding_read_limit(tags, request_of(initiator), round_trip), Cap::OutstandingReads);
}

// The size of a device's read requests: what it is set to, or less where it asks for less at a time.
Bytes PathBuilder::request_of(PciId device) const {
  auto const* part = machine_.part_of(device);
  auto const request = part != nullptr ? part->pcie.max_read_request.value_or(overheads::kDefaultReadRequest)
                                       : overheads::kDefaultReadRequest;
  if (by_cache_line_) return std::min(request, overheads::kCacheLine);
  return access_.each > Bytes(0) ? std::min(request, access_.each) : request;
}

// The mean payload of packets that carry one piece of the access: a last packet is rarely full.
std::optional<Bytes> PathBuilder::cut_payload(PciId device) const {
  if (access_.each <= Bytes(0)) return std::nullopt;
  auto const most = resources_.link_above(device).payload;
  auto const packets = (access_.each.value() + most.value() - 1) / most.value();
  return Bytes(access_.each.value() / packets);
}

// ---------------------------------------------------------------------------------------------------------- PCIe paths

void PathBuilder::link(PciId id, bool upward, double weight, std::optional<Bytes> forced_payload) {
  auto const& above = resources_.link_above(id);
  auto const direction = upward ? above.direction.up : above.direction.down;
  double penalty = 1;
  if (forced_payload && above.link && *forced_payload < above.payload)
    penalty = pcie::packet_penalty(above.link->generation, *forced_payload, above.payload);
  if (penalty > 1) return use_in_small_packets(direction, weight * penalty);
  use(direction, weight);
}

// Up from a function to `stop`, or to the host bridge.
void PathBuilder::climb(Packets const& flow, std::optional<PciId> stop, std::optional<Bytes> forced_payload) {
  if (flow.data) hop(HopKind::Function, static_cast<std::uint32_t>(index(flow.from)));
  for (auto at = flow.from; at != stop;) {
    if (machine_.at(at).kind != PciKind::RootPort) link(at, true, flow.weight, forced_payload);
    auto const parent = machine_.at(at).parent;
    if (!parent) break;
    if (flow.data) hop(HopKind::Function, static_cast<std::uint32_t>(index(*parent)));
    at = *parent;
  }
}

// Down from `stop`, or from the host bridge, to a function.
void PathBuilder::descend(Packets const& flow, std::optional<PciId> stop, std::optional<Bytes> forced_payload) {
  InlineVector<PciId, 16> chain;
  for (std::optional<PciId> at = flow.to; at && at != stop; at = machine_.at(*at).parent) chain.push_back(*at);
  for (std::size_t i = chain.size(); i > 0; --i) {
    auto const id = chain[i - 1];
    if (machine_.at(id).kind != PciKind::RootPort) link(id, false, flow.weight, forced_payload);
    if (flow.data) hop(HopKind::Function, static_cast<std::uint32_t>(index(id)));
  }
}

bool PathBuilder::hangs_below(PciId id, PciId above) const {
  for (auto up = machine_.at(id).parent; up; up = machine_.at(*up).parent)
    if (*up == above) return true;
  return false;
}

void PathBuilder::through_io_die(SocketId socket, bool inward, double weight) {
  if (auto const die = resources_.io_die(socket)) use(inward ? die->up : die->down, weight);
}

void PathBuilder::cross_sockets(SocketId from, SocketId to, bool peer, double weight, bool data) {
  if (from == to) return;
  auto const* pair = resources_.socket_pair(from, to);
  if (pair == nullptr)
    throw PlanError(
        fmt::format("'{}' and '{}' have no socket link between them", machine_.at(from).name, machine_.at(to).name));
  bool const forth = pair->a == from;
  use(forth ? pair->link.up : pair->link.down, weight);
  if (peer) {
    // Requests cut down to 64 B take more of the crossing too: NCCL divides its inter-socket figures by 6/5 for them.
    auto const* cpu = machine_.part_of(to);
    double const cut =
        data && cpu != nullptr && cpu->cpu.peer_payload
            ? pcie::packet_penalty(kCrossingGeneration, *cpu->cpu.peer_payload, overheads::kDefaultPayload)
            : 1;
    use_in_small_packets(forth ? pair->peer.up : pair->peer.down, weight * cut);
    if (pair->peer_both) use_in_small_packets(*pair->peer_both, weight * cut);
  }
  if (data) hop(HopKind::SocketLink, static_cast<std::uint32_t>(index(to)));
}

// Translated requests of a socket's devices pass its IOMMU's walker, unless the device brings translated addresses.
void PathBuilder::walk_iommu(SocketId socket, bool data) {
  auto const& settings = machine_.at(machine_.at(socket).host).settings;
  auto const walker = resources_.iommu(socket);
  if (!data || !walker || settings.virtualization.ats) return;
  if (access_.each <= Bytes(0)) return use(*walker);
  // Walks per byte against one walk a page, which the resource is sized for.
  auto const page = settings.iommu_page;
  auto const walks = misses(socket) * std::max(1.0, access_.each / page);
  use_in_small_packets(*walker, walks * (page / access_.each), Cap::PageWalks);
}

void PathBuilder::packets(Packets const& flow, TurnPoint turn, PeerRoute const& route) {
  if (turn == TurnPoint::Switch) {
    climb(flow, route.meeting);
    descend(flow, route.meeting, std::nullopt);
    return;
  }
  if (turn == TurnPoint::Chip) {
    bool const with_initiator = hangs_below(flow.from, *route.meeting);
    auto const from = with_initiator ? *route.meeting : *route.far;
    auto const to = with_initiator ? *route.far : *route.meeting;
    climb(flow, from);
    use(resources_.fabric_of(from)->up, flow.weight);
    use(resources_.fabric_of(to)->down, flow.weight);
    if (flow.data) hop(HopKind::ChipFabric, static_cast<std::uint32_t>(index(from)));
    if (flow.data) hop(HopKind::Function, static_cast<std::uint32_t>(index(to)));
    descend(flow, to, std::nullopt);
    return;
  }
  auto const from = machine_.socket_of(flow.from);
  auto const to = machine_.socket_of(flow.to);
  auto const* cpu = machine_.part_of(to);
  climb(flow, std::nullopt);
  if (auto const bridge = resources_.host_bridge(machine_.at(flow.from).host_bridge)) use(bridge->up, flow.weight);
  through_io_die(from, true, flow.weight);
  walk_iommu(from, flow.data);
  if (flow.data) hop(HopKind::RootComplex, static_cast<std::uint32_t>(index(from)));
  cross_sockets(from, to, true, flow.weight, flow.data);
  if (flow.data) hop(HopKind::RootComplex, static_cast<std::uint32_t>(index(to)));
  through_io_die(to, false, flow.weight);
  if (auto const bridge = resources_.host_bridge(machine_.at(flow.to).host_bridge)) use(bridge->down, flow.weight);
  descend(flow, std::nullopt, flow.data && cpu != nullptr ? cpu->cpu.peer_payload : std::nullopt);
}

Seconds PathBuilder::peer(PciId source, PciId target, bool pulled) {
  auto const initiator = pulled ? target : source;
  auto const other = pulled ? source : target;
  auto const route = peer_route(machine_, initiator, other);
  packets({source, target, 1, true}, route.data(pulled), route);
  auto latency = peer_latency(initiator, other, route.request, route);
  auto const socket = machine_.socket_of(other);
  auto const* cpu = machine_.part_of(socket);
  if (route.request == TurnPoint::RootComplex) latency += walk_latency(machine_.socket_of(initiator));
  if (!pulled) return latency;
  latency += peer_latency(other, initiator, route.completion, route);
  packets({initiator, other, pcie::read_request_share(request_of(initiator)), false}, route.request, route);
  limit_reads(initiator, latency);
  if (route.through_root_complex(true) && cpu != nullptr && cpu->cpu.peer_read_bandwidth)
    limit(*cpu->cpu.peer_read_bandwidth * assumed_(Parameter::RootComplexPeer), Cap::PeerReads);
  return latency;
}

// -------------------------------------------------------------------------------------------------------- host memory

void PathBuilder::use_host_duplex(PciId device) {
  auto below_root = device;
  for (auto up = machine_.at(device).parent; up; up = machine_.at(*up).parent)
    if (machine_.at(*up).kind == PciKind::Switch) below_root = *up;
  if (auto const both = resources_.host_duplex(below_root)) use(*both);
}

Seconds PathBuilder::into_memory(PciId device, NumaId memory) {
  auto const socket = machine_.socket_of(device);
  climb({device, device, 1, true}, std::nullopt, cut_payload(device));
  use_host_duplex(device);
  through_io_die(socket, true, 1);
  walk_iommu(socket, true);
  hop(HopKind::RootComplex, static_cast<std::uint32_t>(index(socket)));
  cross_sockets(socket, machine_.at(memory).socket, false, 1, true);
  use(resources_.memory(memory));
  hop(HopKind::Memory, static_cast<std::uint32_t>(index(memory)));
  return memory_latency(device, memory) + walk_latency(socket);
}

Seconds PathBuilder::out_of_memory(NumaId memory, PciId device) {
  auto const socket = machine_.socket_of(device);
  hop(HopKind::Memory, static_cast<std::uint32_t>(index(memory)));
  use(resources_.memory(memory));
  cross_sockets(machine_.at(memory).socket, socket, false, 1, true);
  hop(HopKind::RootComplex, static_cast<std::uint32_t>(index(socket)));
  walk_iommu(socket, true);
  through_io_die(socket, false, 1);
  use_host_duplex(device);
  descend({device, device, 1, true}, std::nullopt, cut_payload(device));
  climb({device, device, pcie::read_request_share(request_of(device)), false}, std::nullopt);
  auto const round_trip = memory_latency(device, memory) * 2.0 + walk_latency(socket) +
                          figures::memory_latency(machine_.part_of(machine_.at(memory).socket));
  limit_reads(device, round_trip);
  return round_trip;
}

Seconds PathBuilder::gpu_into_memory(PciId gpu, NumaId memory) {
  auto const link = cpu_link(machine_, gpu);
  if (!link) return into_memory(gpu, memory);
  auto const& path = resources_.nvlink(link->bundle);
  hop(HopKind::Function, static_cast<std::uint32_t>(index(gpu)));
  use(link->gpu_first ? path.direction.up : path.direction.down);
  if (path.both) use(*path.both);
  hop(HopKind::Nvlink, static_cast<std::uint32_t>(link->bundle));
  cross_sockets(link->socket, machine_.at(memory).socket, false, 1, true);
  use(resources_.memory(memory));
  hop(HopKind::Memory, static_cast<std::uint32_t>(index(memory)));
  return figures::latency(machine_.at(path.part).link) * assumed_(Parameter::NvlinkLatency) +
         socket_hop(link->socket, machine_.at(memory).socket) * assumed_(Parameter::PathLatency);
}

Seconds PathBuilder::memory_into_gpu(NumaId memory, PciId gpu) {
  auto const link = cpu_link(machine_, gpu);
  if (!link) return out_of_memory(memory, gpu);
  auto const& path = resources_.nvlink(link->bundle);
  hop(HopKind::Memory, static_cast<std::uint32_t>(index(memory)));
  use(resources_.memory(memory));
  cross_sockets(machine_.at(memory).socket, link->socket, false, 1, true);
  use(link->gpu_first ? path.direction.down : path.direction.up);
  if (path.both) use(*path.both);
  hop(HopKind::Nvlink, static_cast<std::uint32_t>(link->bundle));
  hop(HopKind::Function, static_cast<std::uint32_t>(index(gpu)));
  auto const one_way = figures::latency(machine_.at(path.part).link) * assumed_(Parameter::NvlinkLatency) +
                       socket_hop(link->socket, machine_.at(memory).socket) * assumed_(Parameter::PathLatency);
  return one_way * 2.0;
}

// A device of the host and a GPU whose memory is the host's own: over PCIe to the CPU, over NVLink-C2C beyond.
Seconds PathBuilder::device_into_gpu(PciId device, PciId gpu) {
  if (!coherent_with_cpu(machine_, gpu)) return peer(device, gpu, false);
  auto const link = *cpu_link(machine_, gpu);
  auto const& c2c = resources_.nvlink(link.bundle);
  auto const socket = machine_.socket_of(device);
  climb({device, device, 1, true}, std::nullopt);
  through_io_die(socket, true, 1);
  walk_iommu(socket, true);
  hop(HopKind::RootComplex, static_cast<std::uint32_t>(index(socket)));
  cross_sockets(socket, link.socket, false, 1, true);
  use(link.gpu_first ? c2c.direction.down : c2c.direction.up);
  hop(HopKind::Nvlink, static_cast<std::uint32_t>(link.bundle));
  hop(HopKind::Function, static_cast<std::uint32_t>(index(gpu)));
  return device_over_c2c(device, link);
}

Seconds PathBuilder::gpu_into_device(PciId gpu, PciId device) {
  if (!coherent_with_cpu(machine_, gpu)) return peer(gpu, device, true);
  auto const link = *cpu_link(machine_, gpu);
  auto const& c2c = resources_.nvlink(link.bundle);
  auto const socket = machine_.socket_of(device);
  hop(HopKind::Function, static_cast<std::uint32_t>(index(gpu)));
  use(link.gpu_first ? c2c.direction.up : c2c.direction.down);
  hop(HopKind::Nvlink, static_cast<std::uint32_t>(link.bundle));
  cross_sockets(link.socket, socket, false, 1, true);
  hop(HopKind::RootComplex, static_cast<std::uint32_t>(index(socket)));
  walk_iommu(socket, true);
  through_io_die(socket, false, 1);
  descend({device, device, 1, true}, std::nullopt, std::nullopt);
  climb({device, device, pcie::read_request_share(request_of(device)), false}, std::nullopt);
  auto const round_trip = device_over_c2c(device, link) * 2.0;
  limit_reads(device, round_trip);
  return round_trip;
}

// One way: the device's way to the memory side of its CPU, and the link.
Seconds PathBuilder::device_over_c2c(PciId device, CpuLink const& link) const {
  auto const socket = machine_.socket_of(device);
  auto const& part = machine_.at(machine_.nvlinks[link.bundle].part);
  auto const way =
      endpoint(device) + switches(device, std::nullopt) + root_complex(socket) * 0.5 + socket_hop(socket, link.socket);
  return way * assumed_(Parameter::PathLatency) + walk_latency(socket) +
         figures::latency(part.link) * assumed_(Parameter::NvlinkLatency);
}

BytesPerSecond core_copy(Machine const& machine, NumaId memory) {
  return figures::core_copy(machine.part_of(machine.at(memory).socket));
}

void PathBuilder::cpu_copy(NumaId from, NumaId to, int cores) {
  hop(HopKind::Memory, static_cast<std::uint32_t>(index(from)));
  use(resources_.memory(from));
  cross_sockets(machine_.at(from).socket, machine_.at(to).socket, false, 1, true);
  use(resources_.memory(to));
  hop(HopKind::Memory, static_cast<std::uint32_t>(index(to)));
  limit(core_copy(machine_, from) * (assumed_(Parameter::CoreCopy) * cores), Cap::CpuCopy);
}

void PathBuilder::device_memory(PciId gpu, double weight) {
  // Where nobody published the memory's bandwidth, links bound the flow anyway.
  if (resources_.at(resources_.device_memory(gpu)).capacity) use(resources_.device_memory(gpu), weight);
}

// -------------------------------------------------------------------------------------------------------------- NVLink

Seconds PathBuilder::nvlink(PciId from, PciId to, NvlinkUse by) {
  auto const weight_of = [&](PartId id) {
    auto const& link = machine_.at(id).link;
    if (by == NvlinkUse::Copy) return 1.0;
    return figures::copy_efficiency(link) /
           (by == NvlinkUse::Load ? figures::load_efficiency(link) : figures::load_store_efficiency(link));
  };
  auto const lay = [&](Resources::NvlinkPath const& path, bool up) {
    use_in_small_packets(up ? path.direction.up : path.direction.down, weight_of(path.part));
    if (path.both) use(*path.both, Weight::floor_of(weight_of(path.part)).ratio());
    if (by != NvlinkUse::Load) return;
    auto const requests = overheads::kNvlinkRequest * figures::copy_efficiency(machine_.at(path.part).link);
    use(up ? path.direction.down : path.direction.up, requests);
    if (path.both) use(*path.both, requests);
  };
  hop(HopKind::Function, static_cast<std::uint32_t>(index(from)));
  for (std::size_t i = 0; i < machine_.nvlinks.size(); ++i) {
    auto const& bundle = machine_.nvlinks[i];
    bool const forth = bundle.a == NvlinkEnd(from) && bundle.b == NvlinkEnd(to);
    bool const back = bundle.a == NvlinkEnd(to) && bundle.b == NvlinkEnd(from);
    if (!forth && !back) continue;
    lay(resources_.nvlink(i), forth);
    hop(HopKind::Nvlink, static_cast<std::uint32_t>(i));
    hop(HopKind::Function, static_cast<std::uint32_t>(index(to)));
    return figures::latency(machine_.at(bundle.part).link) * assumed_(Parameter::NvlinkLatency);
  }
  for (std::size_t d = 0; d < machine_.nvswitches.size(); ++d) {
    auto const& domain = machine_.nvswitches[d];
    std::optional<std::size_t> out;
    std::optional<std::size_t> in;
    for (std::size_t p = 0; p < domain.ports.size(); ++p) {
      if (domain.ports[p].gpu == from) out = p;
      if (domain.ports[p].gpu == to) in = p;
    }
    if (!out || !in) continue;
    lay(resources_.nvswitch_port(d, *out), true);
    hop(HopKind::NvSwitch, static_cast<std::uint32_t>(d));
    lay(resources_.nvswitch_port(d, *in), false);
    hop(HopKind::Function, static_cast<std::uint32_t>(index(to)));
    auto const pass = machine_.at(domain.part).hop.latency.value_or(Seconds(0));
    return (figures::latency(machine_.at(domain.link_part).link) + pass) * assumed_(Parameter::NvlinkLatency);
  }
  throw PlanError(fmt::format("no NVLink joins '{}' and '{}'", machine_.at(from).name, machine_.at(to).name));
}

// ------------------------------------------------------------------------------------------------------------- network

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
