#pragma once
// Counts what a piece of code takes from the heap. The program that includes heap_counter.cpp replaces operator new for
// itself and for every library it loads. Counting takes time, so it is done only where it is asked for, not while a
// benchmark is timed.
#include <cstdint>

namespace lanewise::bench {

struct HeapCount {
  std::int64_t allocations = 0;
  std::int64_t peak_bytes = 0;  // the most that is held at once, beyond what was held before
};

void begin_to_count_heap();
// Since begin_to_count_heap().
HeapCount end_heap_count();

}  // namespace lanewise::bench
