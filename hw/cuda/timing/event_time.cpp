#include "hw/cuda/timing/event_time.hpp"

#include <vector>

#include "core/units/statistics.hpp"
#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"

namespace lanewise::hw {

Seconds between(cudaEvent_t from, cudaEvent_t to) {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, from, to), "cudaEventElapsedTime");
  return Seconds(static_cast<double>(milliseconds) * 1e-3);
}

Seconds cost_of_events(Device device) {
  constexpr int kTimes = 9;
  constexpr std::uint64_t kUntilBothAreEnqueued = 50'000;  // ns
  DeviceGuard const guard(device);
  auto const stream = make_stream(device);
  auto const first = make_event(device);
  auto const second = make_event(device);
  std::vector<double> times;
  for (int i = 0; i < kTimes; ++i) {
    launch_occupy(kUntilBothAreEnqueued, KernelShape{1}, stream.get());
    check_cuda(cudaEventRecord(first.get(), stream.get()), "cudaEventRecord");
    check_cuda(cudaEventRecord(second.get(), stream.get()), "cudaEventRecord");
    check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
    times.push_back(between(first.get(), second.get()).value());
  }
  return Seconds(median(times));
}

}  // namespace lanewise::hw
