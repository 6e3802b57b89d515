#pragma once
#include <atomic>
#include <thread>

#include "hw/cuda/timing/release_gate.hpp"

namespace lanewise::hw {

// Opens the gate when the thread that enqueues makes no progress for 100 ms: then the driver makes it wait for work
// that is held behind the gate.
class EnqueueWatchdog {
 public:
  explicit EnqueueWatchdog(ReleaseGate const& gate);
  void made_progress() { ++progress_; }
  // Ends the watch. True when it had to open the gate.
  bool stop();

 private:
  std::atomic<int> progress_ = 0;
  std::atomic<bool> fired_ = false;
  std::jthread thread_;
};

}  // namespace lanewise::hw
