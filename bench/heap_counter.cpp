#include "bench/heap_counter.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace lanewise::bench {
namespace {

std::atomic<bool> is_counting{false};
std::atomic<std::int64_t> allocations{0};
std::atomic<std::int64_t> live{0};  // bytes taken while counting, less those given back
std::atomic<std::int64_t> peak{0};

void* taken(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  if (!is_counting.load(std::memory_order_relaxed)) return block;
  allocations.fetch_add(1, std::memory_order_relaxed);
  auto const size = static_cast<std::int64_t>(malloc_usable_size(block));
  auto const now = live.fetch_add(size, std::memory_order_relaxed) + size;
  if (now > peak.load(std::memory_order_relaxed)) peak.store(now, std::memory_order_relaxed);
  return block;
}

void give_back(void* block) {
  if (block != nullptr && is_counting.load(std::memory_order_relaxed))
    live.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(block)), std::memory_order_relaxed);
  std::free(block);  // NOLINT(cppcoreguidelines-no-malloc): what operator new is made of
}

}  // namespace

void begin_to_count_heap() {
  for (auto* count : {&allocations, &live, &peak}) count->store(0);
  is_counting.store(true);
}

HeapCount end_heap_count() {
  is_counting.store(false);
  return {allocations.load(), peak.load()};
}

}  // namespace lanewise::bench

void* operator new(std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): what operator new is made of
  return lanewise::bench::taken(std::malloc(std::max<std::size_t>(size, 1)));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  auto const step = static_cast<std::size_t>(alignment);
  return lanewise::bench::taken(std::aligned_alloc(step, (std::max<std::size_t>(size, 1) + step - 1) / step * step));
}
void operator delete(void* block) noexcept { lanewise::bench::give_back(block); }
void operator delete(void* block, std::size_t) noexcept { lanewise::bench::give_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { lanewise::bench::give_back(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { lanewise::bench::give_back(block); }
