#include "hw/cuda/moves/links.hpp"

#include <fmt/format.h>

#include <set>

#include "core/rules/conditions.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// An idle NVLink sleeps after some tens of milliseconds and takes about 0.2 ms to wake (measured on an H200: 256 MiB
// took 855 us after 100 ms of idleness, 685 us after 30 ms). Plans are timed awake, as benchmarks are, so this much
// traffic passes between every pair first: 0.2 ms at 300 GB/s.
constexpr Bytes kWakeBytes{std::int64_t{64} << 20};

// Pairs of devices that must have peer access for a step, and pairs that must not.
struct PeerNeed {
  std::vector<std::pair<Device, Device>> open;
  std::vector<std::pair<Device, Device>> closed;
};

PeerNeed peer_need(Step const& step, Devices const& devices) {
  PeerNeed need;
  auto const& machine = devices.machine();
  auto const from = gpu_at(machine, step.from);
  auto const to = gpu_at(machine, step.to);
  if (!from || !to || *from == *to) return need;
  auto const both_ways = [](std::vector<std::pair<Device, Device>>& pairs, Device a, Device b) {
    pairs.emplace_back(a, b);
    pairs.emplace_back(b, a);
  };
  auto const a = devices.of(*from);
  auto const b = devices.of(*to);
  switch (step.way.mechanism) {
    case Mechanism::Nvlink:
    case Mechanism::PcieP2p: both_ways(need.open, a, b); break;
    case Mechanism::NvlinkRelay:
      if (!step.way.relay) break;
      both_ways(need.open, a, devices.of(*step.way.relay));
      both_ways(need.open, devices.of(*step.way.relay), b);
      break;
    case Mechanism::HostStaged:
      if (step.way.by_driver) both_ways(need.closed, a, b);
      break;
    default: break;
  }
  return need;
}

}  // namespace

Links::Links(std::vector<Step> const& steps, Devices& devices) : devices_(devices) {
  for (auto const& step : steps) {
    auto const need = peer_need(step, devices);
    for (auto const& pair : need.open)
      if (pair.first != pair.second) open_.insert(pair);
    for (auto const& pair : need.closed)
      if (pair.first != pair.second) closed_.insert(pair);
    for (auto const& pair : closed_)
      if (open_.contains(pair))
        throw PlanError(
            fmt::format("step '{}' ({}): CUDA grants peer access between two GPUs or it does not; another "
                        "step of this plan has it the other way",
                        step.transfer, text_of(step.way, devices.machine())));
  }
  set_access();
  for (auto const& [device, peer] : open_)
    for (auto const end : {device, peer})
      if (!memory_.contains(end)) memory_.emplace(end, allocate_on(end, kWakeBytes));
}

void Links::set_access() {
  for (auto const& [device, peer] : closed_) devices_.disable_peer_access(device, peer);
  for (auto const& [device, peer] : open_) devices_.enable_peer_access(device, peer);
}

void Links::wake() {
  set_access();
  for (auto const& [from, to] : open_) {
    DeviceGuard const guard(from);
    check_cuda(cudaMemcpyAsync(memory_.at(to).get(), memory_.at(from).get(),
                               static_cast<std::size_t>(kWakeBytes.value()), cudaMemcpyDefault, nullptr),
               "cudaMemcpyAsync");
  }
  for (auto const& [device, memory] : memory_) {
    DeviceGuard const guard(device);
    check_cuda(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }
}

}  // namespace lanewise::hw
