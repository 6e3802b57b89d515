#pragma once
#include <atomic>
#include <thread>

#include "hw/cuda/timing/release_gate.hpp"

namespace lanewise::hw {

// Opens the gate when the thread that enqueues has made no progress for a while: the driver makes it wait for work
// that is behind the gate.
class Watch {
 public:
  explicit Watch(ReleaseGate const& gate);
  void made_progress() { ++progress_; }
  // Ends the watch; whether it had to open the gate.
  bool stop();

 private:
  std::atomic<int> progress_ = 0;
  std::atomic<bool> fired_ = false;
  std::jthread thread_;
};

}  // namespace lanewise::hw
