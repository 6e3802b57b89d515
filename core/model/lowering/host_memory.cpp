// Host memory: DMA of devices through host bridges and the IOMMU, links between sockets, cores that copy, and the pages
// of Unified Memory.
#include <fmt/format.h>

#include <algorithm>

#include "core/model/lowering/lowering.hpp"
#include "core/model/resources/pcie.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {

using namespace literals;

namespace {

// Packets of generation 3 and later have headers of one size, so any of these generations will do.
constexpr int kHeaderGeneration = 3;

}  // namespace

// What a device's DMA shares with that of the other devices of its host bridge and of its socket.
void PathBuilder::use_host_access(PciId device, bool writes) {
  if (auto const bridge = resources_.bridge_memory(machine_.at(device).host_bridge))
    use(writes ? bridge->up : bridge->down);
  auto const& access = resources_.host_access(machine_.socket_of(device));
  if (auto const one_way = writes ? access.writes : access.reads) use(*one_way);
  if (access.traffic) use(*access.traffic);
}

void PathBuilder::cross_sockets(SocketId from, SocketId to, bool peer, double weight, bool data) {
  if (from == to) return;
  auto const* pair = resources_.socket_pair(from, to);
  if (pair == nullptr)
    throw PlanError(fmt::format("'{}' and '{}' are not of one host", machine_.at(from).name, machine_.at(to).name));
  bool const forward = pair->a == from;
  use(forward ? pair->link.up : pair->link.down, weight);
  if (peer) {
    // Requests cut to 64 B take more of the socket link too: NCCL divides its inter-socket figures by 6/5 for them.
    auto const* cpu = machine_.part_of(to);
    double const cut = data && cpu != nullptr && cpu->cpu.peer_payload
                           ? pcie::packet_penalty(kHeaderGeneration, *cpu->cpu.peer_payload, overheads::kDefaultPayload)
                           : 1;
    use_in_small_packets(forward ? pair->peer.up : pair->peer.down, weight * cut);
    if (pair->peer_both) use_in_small_packets(*pair->peer_both, weight * cut);
  }
  if (data) hop(HopKind::SocketLink, static_cast<std::uint32_t>(index(to)));
}

// The device or the switch above it whose link ends at a root port.
PciId PathBuilder::below_root(PciId device) const {
  auto found = device;
  for (auto up = machine_.at(device).parent; up; up = machine_.at(*up).parent)
    if (machine_.at(*up).kind == PciKind::Switch) found = *up;
  return found;
}

void PathBuilder::use_host_duplex(PciId device) {
  if (auto const both = resources_.host_duplex(below_root(device))) use(*both);
}

// Peer traffic from one socket to another passes the root ports of both ends.
void PathBuilder::use_socket_ports(PciId from, PciId to, double weight) {
  auto const pass = [&](PciId device, bool out) {
    auto const& port = resources_.socket_port(below_root(device));
    if (!port) return;
    use_in_small_packets(out ? port->direction.up : port->direction.down, weight);
    if (port->both) use_in_small_packets(*port->both, weight);
  };
  pass(from, true);
  pass(to, false);
}

// Requests of a socket's devices pass its IOMMU's page-table walker where they are translated, unless the device
// translates its addresses itself (ATS).
void PathBuilder::use_iommu(SocketId socket, bool data) {
  auto const& settings = machine_.at(machine_.at(socket).host).settings;
  auto const walker = resources_.iommu(socket);
  if (!data || !walker || settings.virtualization.ats) return;
  if (access_.each <= Bytes(0)) return use(*walker);
  // The resource is sized for one walk a page; this is the ratio of walks per byte to that.
  auto const page = settings.iommu_page;
  auto const walks = iotlb_miss_ratio(socket) * std::max(1.0, access_.each / page);
  use_in_small_packets(*walker, walks * (page / access_.each), Cap::PageWalks);
}

// The share of translations that miss the IOTLB. A bulk transfer misses once a page, at its first touch. Random
// accesses miss in proportion to the part of the window that the IOTLB cannot hold; sequential ones miss once a page
// when it cannot hold the whole window. Source: Neugebauer et al., SIGCOMM 2018, section 6.5, and the knee just above
// 64 x 4 KiB in pcie-bench/data.
double PathBuilder::iotlb_miss_ratio(SocketId socket) const {
  auto const* cpu = machine_.part_of(socket);
  if (access_.each <= Bytes(0) || cpu == nullptr) return 1;
  auto const page = machine_.at(machine_.at(socket).host).settings.iommu_page;
  auto const reach = page * cpu->cpu.iotlb_entries.value_or(overheads::kIotlbEntries);
  if (access_.window <= reach) return 0;
  return access_.random ? 1 - reach / access_.window : std::min(1.0, access_.each / page);
}

// One page-table walk where requests of the socket's devices are translated, else 0.
Seconds PathBuilder::iommu_walk_latency(SocketId socket) const {
  auto const& settings = machine_.at(machine_.at(socket).host).settings;
  auto const* cpu = machine_.part_of(socket);
  if (!translates(settings.iommu) || settings.virtualization.ats || cpu == nullptr) return Seconds(0);
  return cpu->cpu.iommu_walk_latency.value_or(overheads::kIommuWalk) *
         (iotlb_miss_ratio(socket) * assumed_(Parameter::PathLatency));
}

// One way between a device and host memory. The memory side is half a root complex away: its latency is port to port.
Seconds PathBuilder::memory_latency(PciId device, NumaId memory) const {
  auto const socket = machine_.socket_of(device);
  return (endpoint_latency(device) + switch_latencies(device, std::nullopt) + root_complex_latency(socket) * 0.5 +
          socket_latency(socket, machine_.at(memory).socket)) *
         assumed_(Parameter::PathLatency);
}

// What DRAM adds to a read.
Seconds PathBuilder::memory_side_latency(NumaId memory) const {
  auto const* part = machine_.part_of(machine_.at(memory).socket);
  return figures::memory_latency(part) * assumed_latency_share(part, assumed_);
}

Seconds PathBuilder::device_to_memory(PciId device, NumaId memory) {
  auto const socket = machine_.socket_of(device);
  add_upstream({device, device, 1, true}, std::nullopt, mean_payload(device));
  use_host_duplex(device);
  use_host_access(device, true);
  use_iommu(socket, true);
  hop(HopKind::RootComplex, static_cast<std::uint32_t>(index(socket)));
  cross_sockets(socket, machine_.at(memory).socket, false, 1, true);
  use(resources_.memory(memory));
  hop(HopKind::Memory, static_cast<std::uint32_t>(index(memory)));
  return memory_latency(device, memory) + iommu_walk_latency(socket);
}

Seconds PathBuilder::memory_to_device(NumaId memory, PciId device) {
  auto const socket = machine_.socket_of(device);
  hop(HopKind::Memory, static_cast<std::uint32_t>(index(memory)));
  use(resources_.memory(memory));
  cross_sockets(machine_.at(memory).socket, socket, false, 1, true);
  hop(HopKind::RootComplex, static_cast<std::uint32_t>(index(socket)));
  use_iommu(socket, true);
  use_host_access(device, false);
  use_host_duplex(device);
  add_downstream({device, device, 1, true}, std::nullopt, mean_payload(device));
  add_upstream({device, device, pcie::read_request_share(read_request_size(device)), false}, std::nullopt);
  auto const round_trip =
      memory_latency(device, memory) * 2.0 + iommu_walk_latency(socket) + memory_side_latency(memory);
  limit_outstanding_reads(device, round_trip);
  return round_trip;
}

void PathBuilder::cpu_copy(NumaId from, NumaId to, int cores) {
  hop(HopKind::Memory, static_cast<std::uint32_t>(index(from)));
  use(resources_.memory(from));
  cross_sockets(machine_.at(from).socket, machine_.at(to).socket, false, 1, true);
  use(resources_.memory(to));
  hop(HopKind::Memory, static_cast<std::uint32_t>(index(to)));
  limit(core_copy(machine_, from) * (assumed_(Parameter::CoreCopy) * cores), Cap::CpuCopy);
}

void PathBuilder::socket_copy(NumaId at) {
  constexpr double kReadAndWritten = 2;
  use(resources_.memory(at), kReadAndWritten);
}

// A sum is bound by memory as a copy is, and moves half as many bytes again: two are read and one is written.
// McCalpin's STREAM counts so: 16 bytes of an element for Copy, 24 for Add.
Seconds PathBuilder::add_by_core(NumaId at, Bytes bytes, Addend addend) {
  constexpr double kBytesOfCopy = 2.0 / 3.0;
  auto const rate = core_copy(machine_, at) * (assumed_(Parameter::CoreCopy) * kBytesOfCopy);
  use(resources_.memory(at), addend == Addend::OfHost ? 1 : 3);  // beside what the copy takes
  if (addend == Addend::Arrived) return bytes / rate;
  limit(rate, Cap::CpuCopy);
  return Seconds(0);
}

BytesPerSecond core_copy(Machine const& machine, NumaId memory) {
  return figures::core_copy(machine.part_of(machine.at(memory).socket));
}

void Lowering::local() {
  if (auto const g = gpu(from_)) {
    path_.hop(HopKind::Function, static_cast<std::uint32_t>(index(*g)));
    path_.use(resources_.device_memory(*g), 2);  // read and written; without this figure the copy has no cost
    add_busy_start(figures::local_copy_start(machine_.part_of(*g)) * assumed_(Parameter::EngineStart));
    hold_engine(*g);
    return;
  }
  path_.cpu_copy(std::get<NumaId>(from_), std::get<NumaId>(to_), std::max(1, way_.cores));
}

// DMA to or from host memory: by a GPU's copy engine, a drive, or any device with a given access pattern.
void Lowering::host_dma() {
  path_.set_access(way_.access);
  if (way_.access.each > 0_B) return device_dma();
  if (auto const g = gpu(from_)) {
    demand_.path = path_.gpu_to_memory(*g, std::get<NumaId>(to_));
    start_on(*g);
  } else if (auto const target = gpu(to_)) {
    demand_.path = path_.memory_to_gpu(std::get<NumaId>(from_), *target);
    start_on(*target);
  } else {
    use_drive();
    demand_.path += from_drive() ? path_.device_to_memory(drive(), std::get<NumaId>(to_))
                                 : path_.memory_to_device(std::get<NumaId>(from_), drive());
  }
}

void Lowering::device_dma() {
  auto const* source = std::get_if<PciId>(&from_);
  auto const device = source != nullptr ? *source : gpu_to();
  demand_.path = source != nullptr ? path_.device_to_memory(device, std::get<NumaId>(to_))
                                   : path_.memory_to_device(std::get<NumaId>(from_), device);
  auto const* part = machine_.part_of(device);
  if (source != nullptr && part != nullptr && part->nic.message_rate)  // writes only: reads are limited by their tags
    path_.limit(way_.access.each / (1.0 / *part->nic.message_rate) * assumed_(Parameter::NetworkRate),
                Cap::MessageRate);
}

// Pageable host memory: one core copies every byte to or from a pinned chunk while the engine works on another chunk.
void Lowering::add_pageable_copies() {
  for (auto const& end : {from_, to_}) {
    auto const* memory = std::get_if<NumaId>(&end);
    if (memory == nullptr || (gpu(from_) == gpu(to_))) continue;
    path_.cpu_copy(*memory, *memory);
    demand_.start += host_time(overheads::kHostSubmit + overheads::kHostSync);
  }
}

// Unified Memory moves blocks of 2 MiB; each takes the time of its bytes and of the driver's work.
void Lowering::limit_page_migration() {
  auto const factor = 1 / assumed_(Parameter::PageMigration);
  bool const faults = op_ == Op::Fault;
  demand_.start += faults ? overheads::kFirstFault * factor : host_time(overheads::kHostSubmit);
  auto const rate = path_.rate();
  if (!rate) return;
  auto const work = (faults ? overheads::kFaultBlock : overheads::kPrefetchBlock) * factor;
  path_.limit(overheads::kMigrationBlock / (overheads::kMigrationBlock / *rate + work), Cap::PageMigration);
}

}  // namespace lanewise
