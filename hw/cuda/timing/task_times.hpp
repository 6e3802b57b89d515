#pragma once
// What a collective's kernel notes of its work and gives up by. On the GPU's own clock, in nanoseconds.
#include <cstdint>

namespace lanewise::hw {

struct TaskTimes {
  std::uint64_t begin = 0, end = 0;
};

struct KernelClock {
  TaskTimes* tasks = nullptr;                // of each task
  std::uint64_t* kernel = nullptr;           // two: when the kernel began and ended
  std::uint32_t volatile* failed = nullptr;  // host memory: becomes 1 when something did not come in time
  std::uint64_t limit_ns = 0;
};

}  // namespace lanewise::hw
