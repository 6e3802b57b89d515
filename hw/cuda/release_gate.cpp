#include "hw/cuda/release_gate.hpp"

#include <thread>

#include "core/io/error.hpp"
#include "hw/cuda/cuda_error.hpp"
#include "hw/cuda/kernels.hpp"
#include "hw/cuda/limits.hpp"

namespace lanewise::hw {

ReleaseGate::ReleaseGate(std::vector<Device> const& devices) : flags_(devices.size() + 1) {
  for (std::size_t i = 0; i < devices.size(); ++i)
    lanes_.emplace(devices[i], Lane{make_stream(devices[i]), make_event(devices[i]), i + 1});
}

ReleaseGate::~ReleaseGate() {
  force_open();
  // The kernels read our flags until they end.
  for (auto const& [device, lane] : lanes_) cudaStreamSynchronize(lane.stream.get());
}

void ReleaseGate::close() {
  ++epoch_;
  for (auto const& [device, lane] : lanes_) {
    DeviceGuard const guard(device);
    launch_gate(flags_.word(kOpen), epoch_, flags_.word(lane.arrived), kLongestWait.count(), lane.stream.get());
    check_cuda(cudaEventRecord(lane.zero.get(), lane.stream.get()), "cudaEventRecord");
  }
}

void ReleaseGate::open() {
  auto const until = std::chrono::steady_clock::now() + kLongestWait;
  for (auto const& [device, lane] : lanes_)
    while (flags_.load(lane.arrived) != epoch_) {
      if (std::chrono::steady_clock::now() > until) {
        force_open();
        throw DeviceError("release gate", ordinal(device),
                          "the GPU did not begin in time; is it busy with other work?");
      }
      std::this_thread::yield();
    }
  force_open();
}

}  // namespace lanewise::hw
