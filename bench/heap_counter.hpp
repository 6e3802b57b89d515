#pragma once
// Counts what a piece of code takes from the heap. The program that includes heap_counter.cpp replaces operator new for
// itself and for every library it loads.
#include <cstdint>

namespace lanewise::bench {

struct HeapCount {
  std::int64_t allocations = 0;
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;
};

// Since the program began; the peak since the last call of restart_peak().
HeapCount heap_count();
void restart_peak();

}  // namespace lanewise::bench
