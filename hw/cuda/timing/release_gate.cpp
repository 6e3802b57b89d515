#include "hw/cuda/timing/release_gate.hpp"

#include <cuda.h>

#include <algorithm>
#include <thread>

#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/kernels/limits.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"
#include "hw/cuda/runtime/driver_entry.hpp"
#include "hw/cuda/timing/event_time.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {

ReleaseGate::ReleaseGate(std::vector<Device> const& devices)
    : flags_(devices.size() + 1), wait_value_(driver_entry("cuStreamWaitValue32")) {
  for (std::size_t i = 0; i < devices.size(); ++i)
    devices_.emplace(devices[i],
                     DeviceGate{make_stream(devices[i]), make_event(devices[i]), i + 1, cost_of_events(devices[i])});
}

ReleaseGate::~ReleaseGate() {
  force_open();
  // The kernels write our flags until they end.
  for (auto const& [device, gate] : devices_) cudaStreamSynchronize(gate.stream.get());
}

void ReleaseGate::close() {
  ++epoch_;
  for (auto const& [device, gate] : devices_) {
    DeviceGuard const guard(device);
    // Recorded now: an event of another stream that is due together with the timed work would delay it by 2 us.
    check_cuda(cudaEventRecord(gate.zero.get(), gate.stream.get()), "cudaEventRecord");
    launch_signal(flags_.word(gate.arrived), epoch_, gate.stream.get());
  }
}

void ReleaseGate::hold(Device device, cudaStream_t stream) const {
  DeviceGuard const guard(device);
  launch_gate(flags_.word(kOpen), epoch_, kWaitLimit.count(), stream);
}

void ReleaseGate::hold_copy(Device device, cudaStream_t stream) const {
  DeviceGuard const guard(device);
  auto* const wait_value = reinterpret_cast<decltype(&cuStreamWaitValue32)>(wait_value_);
  auto const word = reinterpret_cast<CUdeviceptr>(flags_.word(kOpen));
  if (wait_value == nullptr || wait_value(stream, word, epoch_, CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS)
    hold(device, stream);
}

void ReleaseGate::open() {
  auto const until = std::chrono::steady_clock::now() + kWaitLimit;
  for (auto const& [device, gate] : devices_)
    while (flags_.load(gate.arrived) != epoch_) {
      if (std::chrono::steady_clock::now() > until) {
        force_open();
        throw DeviceError("release gate", ordinal(device),
                          "the GPU did not begin in time; is it busy with other work?");
      }
      std::this_thread::yield();
    }
  // A device that has begun with its enqueued work reaches the gates in its streams within this time.
  std::this_thread::sleep_for(std::chrono::microseconds(100));
  force_open();
}

Seconds ReleaseGate::without_event_cost(Device device, Seconds measured) const {
  return std::max(measured - devices_.at(device).event_cost, Seconds(0));
}

}  // namespace lanewise::hw
