#include "hw/cuda/runs/watchdog.hpp"

#include <chrono>

namespace lanewise::hw {
namespace {

// Longer than any enqueueing call takes by itself (loading a kernel, the first launch of a graph).
constexpr auto kStallLimit = std::chrono::milliseconds(100);

}  // namespace

EnqueueWatchdog::EnqueueWatchdog(ReleaseGate const& gate)
    : thread_([this, &gate](std::stop_token const& stop) {
        int seen = -1;
        auto since = std::chrono::steady_clock::now();
        while (!stop.stop_requested()) {
          auto const now = std::chrono::steady_clock::now();
          if (auto const progress = progress_.load(); progress != seen) {
            seen = progress;
            since = now;
          } else if (now - since > kStallLimit) {
            fired_ = true;
            gate.force_open();
            return;
          }
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      }) {}

bool EnqueueWatchdog::stop() {
  thread_.request_stop();
  thread_.join();
  return fired_;
}

}  // namespace lanewise::hw
