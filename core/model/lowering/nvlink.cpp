// NVLink, NVSwitch and NVLink-C2C.
#include <fmt/format.h>

#include <cstdint>

#include "core/machine/nvlink_bundles.hpp"
#include "core/machine/nvlink_domains.hpp"
#include "core/model/lowering/lowering.hpp"
#include "core/model/resources/pcie.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {

void PathBuilder::use_device_memory(PciId gpu, double weight) {
  // Without a published bandwidth, links bound the flow anyway.
  if (resources_.at(resources_.device_memory(gpu)).capacity) use(resources_.device_memory(gpu), weight);
}

Seconds PathBuilder::nvlink(PciId from, PciId to, NvlinkUse by) {
  auto const weight_of = [&](PartId id) {
    auto const& link = machine_.at(id).link;
    switch (by) {
      case NvlinkUse::Copy: return 1.0;
      case NvlinkUse::Store: return figures::copy_efficiency(link) / figures::load_store_efficiency(link);
      case NvlinkUse::Load: return figures::copy_efficiency(link) / figures::load_efficiency(link);
      case NvlinkUse::Multimem: return figures::copy_efficiency(link) / figures::multimem(link).efficiency;
    }
    return 1.0;
  };
  auto const use_path = [&](Resources::NvlinkPath const& path, bool up) {
    use_in_small_packets(up ? path.direction.up : path.direction.down, weight_of(path.part));
    if (path.both) use(*path.both, Weight::floor_of(weight_of(path.part)).ratio());
    if (by != NvlinkUse::Load) return;
    auto const requests = overheads::kNvlinkRequest * figures::copy_efficiency(machine_.at(path.part).link);
    use(up ? path.direction.down : path.direction.up, requests);
    if (path.both) use(*path.both, requests);
  };
  hop(HopKind::Function, static_cast<std::uint32_t>(index(from)));
  for (auto const& bundle : bundles_of(machine_, machine_.host_of(from))) {
    if (!joins(bundle, from, to)) continue;
    auto const i = number_of(machine_, bundle);
    use_path(resources_.nvlink(i), bundle.a == NvlinkEnd(from));
    hop(HopKind::Nvlink, static_cast<std::uint32_t>(i));
    hop(HopKind::Function, static_cast<std::uint32_t>(index(to)));
    return nvlink_latency(bundle.part);
  }
  for (std::size_t d = 0; d < machine_.nvswitches.size(); ++d) {
    auto const& domain = machine_.nvswitches[d];
    auto const out = port_of(machine_, domain, from);
    auto const in = out ? port_of(machine_, domain, to) : std::nullopt;
    if (!in) continue;
    use_path(resources_.nvswitch_port(d, *out), true);
    hop(HopKind::NvSwitch, static_cast<std::uint32_t>(d));
    use_path(resources_.nvswitch_port(d, *in), false);
    hop(HopKind::Function, static_cast<std::uint32_t>(index(to)));
    auto const pass = machine_.at(domain.part).hop.latency.value_or(Seconds(0));
    return nvlink_latency(domain.link_part) + pass * assumed_(Parameter::NvlinkLatency);
  }
  throw PlanError(fmt::format("no NVLink joins '{}' and '{}'", machine_.at(from).name, machine_.at(to).name));
}

Seconds PathBuilder::gpu_to_memory(PciId gpu, NumaId memory) {
  auto const link = cpu_link(machine_, gpu);
  if (!link) return device_to_memory(gpu, memory);
  auto const& path = resources_.nvlink(link->bundle);
  hop(HopKind::Function, static_cast<std::uint32_t>(index(gpu)));
  use(link->gpu_first ? path.direction.up : path.direction.down);
  if (path.both) use(*path.both);
  hop(HopKind::Nvlink, static_cast<std::uint32_t>(link->bundle));
  cross_sockets(link->socket, machine_.at(memory).socket, false, 1, true);
  use(resources_.memory(memory));
  hop(HopKind::Memory, static_cast<std::uint32_t>(index(memory)));
  return nvlink_latency(path.part) +
         socket_latency(link->socket, machine_.at(memory).socket) * assumed_(Parameter::PathLatency);
}

Seconds PathBuilder::memory_to_gpu(NumaId memory, PciId gpu) {
  auto const link = cpu_link(machine_, gpu);
  if (!link) return memory_to_device(memory, gpu);
  auto const& path = resources_.nvlink(link->bundle);
  hop(HopKind::Memory, static_cast<std::uint32_t>(index(memory)));
  use(resources_.memory(memory));
  cross_sockets(machine_.at(memory).socket, link->socket, false, 1, true);
  use(link->gpu_first ? path.direction.down : path.direction.up);
  if (path.both) use(*path.both);
  hop(HopKind::Nvlink, static_cast<std::uint32_t>(link->bundle));
  hop(HopKind::Function, static_cast<std::uint32_t>(index(gpu)));
  auto const one_way = nvlink_latency(path.part) +
                       socket_latency(link->socket, machine_.at(memory).socket) * assumed_(Parameter::PathLatency);
  return one_way * 2.0;
}

// A GPU with NVLink-C2C: the device reaches the CPU over PCIe, and the CPU reaches the GPU's memory over C2C.
Seconds PathBuilder::device_to_gpu(PciId device, PciId gpu) {
  if (!reaches_through_cpu(machine_, device, gpu)) return peer(device, gpu, false);
  auto const link = *cpu_link(machine_, gpu);
  auto const& c2c = resources_.nvlink(link.bundle);
  auto const socket = machine_.socket_of(device);
  add_upstream({device, device, 1, true}, std::nullopt);
  use_iommu(socket, true);
  hop(HopKind::RootComplex, static_cast<std::uint32_t>(index(socket)));
  cross_sockets(socket, link.socket, false, 1, true);
  use(link.gpu_first ? c2c.direction.down : c2c.direction.up);
  hop(HopKind::Nvlink, static_cast<std::uint32_t>(link.bundle));
  hop(HopKind::Function, static_cast<std::uint32_t>(index(gpu)));
  return device_over_c2c(device, link);
}

Seconds PathBuilder::gpu_to_device(PciId gpu, PciId device) {
  if (!reaches_through_cpu(machine_, device, gpu)) return peer(gpu, device, true);
  auto const link = *cpu_link(machine_, gpu);
  auto const& c2c = resources_.nvlink(link.bundle);
  auto const socket = machine_.socket_of(device);
  hop(HopKind::Function, static_cast<std::uint32_t>(index(gpu)));
  use(link.gpu_first ? c2c.direction.up : c2c.direction.down);
  hop(HopKind::Nvlink, static_cast<std::uint32_t>(link.bundle));
  cross_sockets(link.socket, socket, false, 1, true);
  hop(HopKind::RootComplex, static_cast<std::uint32_t>(index(socket)));
  use_iommu(socket, true);
  add_downstream({device, device, 1, true}, std::nullopt, std::nullopt);
  add_upstream({device, device, pcie::read_request_share(read_request_size(device)), false}, std::nullopt);
  auto const round_trip = device_over_c2c(device, link) * 2.0;
  limit_outstanding_reads(device, round_trip);
  return round_trip;
}

// One way: from the device to the memory side of its CPU, and over the link.
Seconds PathBuilder::device_over_c2c(PciId device, CpuLink const& link) const {
  auto const socket = machine_.socket_of(device);
  auto const way = endpoint_latency(device) + switch_latencies(device, std::nullopt) +
                   root_complex_latency(socket) * 0.5 + socket_latency(socket, link.socket);
  return way * assumed_(Parameter::PathLatency) + iommu_walk_latency(socket) +
         nvlink_latency(machine_.nvlinks[link.bundle].part);
}

void Lowering::nvlink() {
  auto const a = gpu(from_);
  auto const b = gpu(to_);
  if (a && b) {
    demand_.path = path_.nvlink(*a, *b, nvlink_use());
    // A read waits for its data, a copy for the acknowledgement of its last write: unlike PCIe, NVLink acknowledges
    // writes. 4 B copies take 2.8 us on H100 and 2.9 us on V100 over NVSwitch, 1.9 us over a PCIe root complex.
    if (way_.drive == Drive::Pull || op_ == Op::Copy) demand_.path = demand_.path * 2.0;
  } else if (a) {
    demand_.path = path_.gpu_to_memory(*a, std::get<NumaId>(to_));
  } else {
    demand_.path = path_.memory_to_gpu(std::get<NumaId>(from_), *b);
  }
  // Who drives it: a kernel that loads runs on the target; copies of two GPUs use the source's engine, in either GPU's
  // stream. Source: two copies 0 > 1, one in each GPU's stream, run one after the other (2 x H100); seven GPUs that are
  // read by one at once give what they give when they write to it (8 x H800, 4 x GB300).
  bool const target_loads = way_.drive == Drive::Pull && by_kernel();
  start_on(a && !(b && target_loads) ? *a : *b);
}

// A pipeline of chunks through the relay's memory: after the first chunk both legs run at once.
void Lowering::nvlink_relay() {
  auto const first = path_.nvlink(gpu_from(), *way_.relay, nvlink_use());
  auto const filled = path_.rate();
  auto const second = path_.nvlink(*way_.relay, gpu_to(), nvlink_use());
  path_.use_device_memory(*way_.relay, 2);
  start_on(gpu_from());
  start_on(*way_.relay);
  pipeline(first + second, filled, chunk_gap(gpu_from()));
}

}  // namespace lanewise
