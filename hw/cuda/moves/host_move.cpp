#include "hw/cuda/moves/host_move.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/kernels/limits.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {

using namespace std::chrono_literals;

HostMove::HostMove(Device device, NumaIndex numa, std::function<void()> work)
    : device_(device),
      work_(std::move(work)),
      thread_([this, numa](std::stop_token const& stop) { serve(stop, numa); }) {}

HostMove::~HostMove() {
  thread_.request_stop();
  flags_.store(kDone, enqueued_);  // so that no stream waits for the thread, which ends
}

void HostMove::enqueue(cudaStream_t stream) {
  DeviceGuard const guard(device_);
  ++enqueued_;
  launch_signal(flags_.word(kReached), enqueued_, stream);
  launch_gate(flags_.word(kDone), enqueued_, kWaitLimit.count(), stream);
}

void HostMove::serve(std::stop_token const& stop, NumaIndex numa) {
  OnNumaNode const binding(numa);
  std::uint32_t served = 0;
  while (!stop.stop_requested()) {
    if (flags_.load(kReached) == served) {
      std::this_thread::yield();
      continue;
    }
    try {
      if (!caught_) work_();  // what has failed is not run again
    } catch (...) {
      caught_ = std::current_exception();
    }
    flags_.store(kDone, ++served);
  }
}

void HostMove::rethrow() {
  if (flags_.load(kDone) != enqueued_)
    throw DeviceError("the host's part of it", ETIME, fmt::format("did not end within {} s", kWaitLimit / 1s));
  if (auto const caught = std::exchange(caught_, nullptr)) std::rethrow_exception(caught);
}

}  // namespace lanewise::hw
