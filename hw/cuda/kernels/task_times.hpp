#pragma once
// Where a collective's kernel writes its times, and when it gives up. Times are on the GPU's own clock, in nanoseconds.
#include <cstdint>

namespace lanewise::hw {

struct TaskTimes {
  std::uint64_t begin = 0, end = 0;
};

struct KernelClock {
  TaskTimes* tasks = nullptr;                // of each task
  std::uint64_t* kernel = nullptr;           // two: when the kernel began and ended
  std::uint32_t volatile* failed = nullptr;  // in host memory: becomes 1 when a wait exceeds limit_ns
  std::uint64_t limit_ns = 0;
};

}  // namespace lanewise::hw
