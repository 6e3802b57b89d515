#include "core/model/resources/figures.hpp"

#include <algorithm>

#include "core/model/resources/network.hpp"
#include "core/model/resources/overheads.hpp"
#include "core/model/resources/pcie.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise::figures {
namespace {

// The figure of the part, or the default.
template <class Value, class Member>
Value value_or_default(Part const* part, Member member, Value fallback) {
  return part != nullptr ? member(*part).value_or(fallback) : fallback;
}

// The largest chip of a generation of NVIDIA's: gp100, gv100, ga100, gh100, gb100.
bool is_largest_chip(Part const* gpu) {
  return gpu != nullptr && gpu->gpu.chip.starts_with("g") && gpu->gpu.chip.ends_with("100");
}

Seconds usual_copy_interval(Part const* gpu) {
  if (is_largest_chip(gpu)) return overheads::kCopyIntervalOfLargestChip;
  auto const capability = gpu != nullptr ? compute_capability(*gpu).value_or(0) : 0;
  if (capability >= 12) return overheads::kCopyIntervalOfSmallBlackwell;
  return capability == 8.9 ? overheads::kCopyIntervalOfAda : overheads::kCopyInterval;
}

}  // namespace

Seconds copy_start(Part const* gpu) {
  return value_or_default(
      gpu, [](Part const& p) { return p.gpu.copy_start; }, overheads::kCopyEngineStart);
}
Seconds host_copy_start(Part const* gpu) {
  return value_or_default(
      gpu, [](Part const& p) { return p.gpu.host_copy_start; }, copy_start(gpu));
}
Seconds local_copy_start(Part const* gpu) {
  return value_or_default(
      gpu, [](Part const& p) { return p.gpu.local_copy_start; }, overheads::kLocalCopyStart);
}
Seconds copy_interval(Part const* gpu) {
  return value_or_default(
      gpu, [](Part const& p) { return p.gpu.copy_start; }, usual_copy_interval(gpu));
}
Seconds kernel_start(Part const* gpu) {
  return value_or_default(
      gpu, [](Part const& p) { return p.gpu.kernel_start; }, overheads::kKernelStart);
}
overheads::BlockFigures const& block(Part const* gpu) {
  auto const capability = gpu != nullptr ? compute_capability(*gpu).value_or(0) : 0;
  if (capability >= 10) return overheads::kBlockOfBlackwell;
  if (capability >= 9) return overheads::kBlockOfHopper;
  if (capability >= 8) return overheads::kBlockOfAmpere;
  return capability >= 7.5 ? overheads::kBlockOfTuring : overheads::kBlockOfVolta;
}
Seconds pulled_start(Part const* gpu) {
  return value_or_default(
      gpu, [](Part const& p) { return p.gpu.pulled_start; }, overheads::kPulledStart);
}
Seconds engine_change(Part const* gpu) {
  return value_or_default(
      gpu, [](Part const& p) { return p.gpu.engine_change; }, overheads::kEngineChange);
}
Seconds chunk_gap(Part const* gpu) {
  return value_or_default(
      gpu, [](Part const& p) { return p.gpu.chunk_gap; }, overheads::kChunkGap);
}
Seconds staged_start(Part const* gpu) {
  return value_or_default(
      gpu, [](Part const& p) { return p.gpu.staged_start; }, overheads::kDriverStagedStart);
}
Seconds staged_gap(Part const* gpu) {
  return value_or_default(
      gpu, [](Part const& p) { return p.gpu.staged_gap; }, overheads::kDriverChunkGap);
}
double staged_duplex(Part const* gpu) {
  return value_or_default(
      gpu, [](Part const& p) { return p.gpu.staged_duplex; }, overheads::kDriverDuplex);
}
double device_memory_efficiency(Part const* gpu) {
  return value_or_default(
      gpu, [](Part const& p) { return p.gpu.memory_efficiency; }, overheads::kDeviceMemoryEfficiency);
}

CopyEngines copy_engines(Part const* gpu) {
  if (gpu != nullptr && gpu->gpu.copy_engines) {
    auto const count = std::max(1, *gpu->gpu.copy_engines);
    return {count, count, count, false};
  }
  if (gpu != nullptr && gpu->gpu.vendor != "nvidia" && gpu->gpu.vendor != "amd") return {1, 1, 2, true};
  auto const usual = is_largest_chip(gpu) ? overheads::kCopyEnginesOfLargestChip : overheads::kCopyEngines;
  return {usual, overheads::kCopyEngines, overheads::kCopyEnginesOfLargestChip, true};
}

std::optional<CopyEngines> peer_copy_engines(Part const* gpu, int linked) {
  if (gpu != nullptr && gpu->gpu.peer_copy_engines) {
    auto const count = std::max({1, linked, *gpu->gpu.peer_copy_engines});
    return CopyEngines{count, count, count, false};
  }
  if (gpu != nullptr && gpu->gpu.vendor != "nvidia") return std::nullopt;
  auto const usual = std::max(overheads::kPeerCopyEngines, linked);
  return CopyEngines{usual, 1, std::max(usual, copy_engines(gpu).high), true};
}

Seconds root_complex_latency(Part const* cpu) {
  return value_or_default(
      cpu, [](Part const& p) { return p.cpu.root_complex_latency; }, overheads::kRootComplex);
}
Seconds memory_latency(Part const* cpu) {
  return value_or_default(
      cpu, [](Part const& p) { return p.cpu.memory_latency; }, overheads::kMemoryLatency);
}
double host_duplex(Part const* cpu, int generation) {
  return value_or_default(
      cpu, [](Part const& p) { return p.cpu.host_duplex; },
      generation <= 4 ? overheads::kHostDuplexGen4 : overheads::kHostDuplexGen5);
}
double memory_efficiency(Part const* cpu) {
  return value_or_default(
      cpu, [](Part const& p) { return p.cpu.memory_efficiency; }, overheads::kDramEfficiency);
}
BytesPerSecond core_copy(Part const* cpu) {
  return value_or_default(
      cpu, [](Part const& p) { return p.cpu.core_copy_bandwidth; }, overheads::kCoreCopy);
}

Seconds drive_read_latency(Part const* drive) {
  return value_or_default(
      drive, [](Part const& p) { return p.nvme.read_latency; }, overheads::kDriveReadLatency);
}
Seconds drive_write_latency(Part const* drive) {
  return value_or_default(
      drive, [](Part const& p) { return p.nvme.write_latency; }, overheads::kDriveWriteLatency);
}

Seconds socket_latency(Part const* nic) {
  return value_or_default(
      nic, [](Part const& p) { return p.nic.socket_latency; }, overheads::kSocketEnd);
}
BytesPerSecond socket_bandwidth(Part const* nic) {
  return value_or_default(
      nic, [](Part const& p) { return p.nic.socket_bandwidth; }, overheads::kSocketStream);
}

Seconds endpoint_latency(Part const* part) {
  return value_or_default(
      part, [](Part const& p) { return p.pcie.latency; }, overheads::kEndpoint);
}
Seconds switch_latency(Part const* part) {
  return value_or_default(
      part, [](Part const& p) { return p.pcie.latency; }, overheads::kSwitchPass);
}
double link_utilisation(Part const* part, bool upward, int generation) {
  auto const member = [upward](Part const& p) {
    return upward ? p.pcie.link_utilisation_up : p.pcie.link_utilisation_down;
  };
  return value_or_default(part, member, pcie::link_utilisation(generation));
}

double copy_efficiency(LinkFigures const& link) {
  if (link.copy_efficiency) return *link.copy_efficiency;
  if (link.family == LinkFamily::NvLink) return overheads::kNvlinkCopyEfficiency;
  if (link.family == LinkFamily::GpuRoce)
    return network::wire_efficiency(LinkLayer::Ethernet, Transport::RoceV2, network::kDefaultMtu);
  return link.load_store_efficiency.value_or(1.0);  // that of kernels, where copies have none of their own
}
double load_store_efficiency(LinkFigures const& link) {
  return link.load_store_efficiency.value_or(link.family == LinkFamily::NvLink ? overheads::kNvlinkLoadStoreEfficiency
                                                                               : copy_efficiency(link));
}
double load_efficiency(LinkFigures const& link) { return link.load_efficiency.value_or(load_store_efficiency(link)); }
overheads::MultimemFigures const& multimem(LinkFigures const& link) {
  return link.generation >= 5 ? overheads::kMultimemOfNvlink5 : overheads::kMultimemOfNvlink4;
}
double duplex(LinkFigures const& link) {
  return link.duplex.value_or(link.family == LinkFamily::NvLink ? overheads::kNvlinkDuplex : 1);
}
Seconds latency(LinkFigures const& link) {
  if (link.latency) return *link.latency;
  if (link.family == LinkFamily::GpuRoce) return network::wire_latency(LinkLayer::Ethernet);
  return link.family == LinkFamily::Socket ? overheads::kSocketHop : overheads::kNvlinkOneWay;
}

}  // namespace lanewise::figures
