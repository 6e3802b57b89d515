#pragma once
// Device code that all kernels slice.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/runtime/cuda_error.hpp"

namespace lanewise::hw {

inline constexpr int kThreads = 512;

using Vector = uint4;

// One block for each kThreads items, but no more than the multiprocessors hold.
inline unsigned blocks_for(std::uint64_t items, KernelShape shape) {
  auto const wanted = std::max<std::uint64_t>((items + kThreads - 1) / kThreads, 1);
  auto const held = static_cast<std::uint64_t>(shape.multiprocessors) * static_cast<std::uint64_t>(shape.blocks_each);
  return static_cast<unsigned>(std::min(wanted, held));
}

inline void launched(char const* kernel) { check_cuda(cudaGetLastError(), kernel); }

__device__ inline std::uint64_t thread_index() {
  return blockIdx.x * static_cast<std::uint64_t>(blockDim.x) + threadIdx.x;
}
__device__ inline std::uint64_t thread_count() { return gridDim.x * static_cast<std::uint64_t>(blockDim.x); }

__device__ inline std::uint64_t global_time() {
  std::uint64_t time = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

// Loads what another GPU may have written while this kernel ran: never a stale value from a cache, and never ahead of
// the flag that was waited for.
__device__ inline Vector load_fresh(Vector const* from) {
  Vector value;
  asm volatile("ld.relaxed.sys.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(from)
               : "memory");
  return value;
}

// This thread's slice of some work: thread `index` of `count`.
struct WorkSlice {
  std::uint32_t index = 0, count = 1;
};

__device__ inline void copy_slice(void* target, void const* source, std::uint64_t bytes, WorkSlice slice) {
  constexpr int kUnroll = 4;
  auto* const to = static_cast<Vector*>(target);
  auto const* const from = static_cast<Vector const*>(source);
  auto const vectors = bytes / sizeof(Vector);
  auto i = std::uint64_t{slice.index};
  for (; i + (kUnroll - 1) * slice.count < vectors; i += kUnroll * slice.count) {
    Vector values[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) values[k] = load_fresh(from + i + k * slice.count);
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) to[i + k * slice.count] = values[k];
  }
  // At most kUnroll - 1 vectors are left; their loads are in flight together too.
  Vector values[kUnroll - 1];
#pragma unroll
  for (int k = 0; k < kUnroll - 1; ++k)
    if (i + k * slice.count < vectors) values[k] = load_fresh(from + i + k * slice.count);
#pragma unroll
  for (int k = 0; k < kUnroll - 1; ++k)
    if (i + k * slice.count < vectors) to[i + k * slice.count] = values[k];
  auto const done = vectors * sizeof(Vector);
  if (slice.index < bytes - done)
    static_cast<std::uint8_t*>(target)[done + slice.index] =
        static_cast<std::uint8_t const volatile*>(source)[done + slice.index];
}

// target = the sum of all sources, in 32-bit elements; the target may be among the sources. Loads of three sources, two
// vectors each, are in flight at a time.
__device__ inline void add_slice(void* target, std::uint64_t const* sources, std::uint32_t count, std::uint64_t bytes,
                                 WorkSlice slice) {
  constexpr std::uint32_t kSources = 3;
  auto* const to = static_cast<Vector*>(target);
  auto const vectors = bytes / sizeof(Vector);
  for (auto i = std::uint64_t{slice.index}; i < vectors; i += 2 * slice.count) {
    bool const two = i + slice.count < vectors;
    Vector sum[2] = {};
    for (std::uint32_t s = 0; s < count; s += kSources) {
      Vector values[kSources][2] = {};
#pragma unroll
      for (std::uint32_t k = 0; k < kSources; ++k) {
        if (s + k >= count) continue;
        auto const* const from = reinterpret_cast<Vector const*>(sources[s + k]) + i;
        values[k][0] = load_fresh(from);
        if (two) values[k][1] = load_fresh(from + slice.count);
      }
#pragma unroll
      for (std::uint32_t k = 0; k < kSources; ++k)
        for (int v = 0; v < 2; ++v) {
          sum[v].x += values[k][v].x;
          sum[v].y += values[k][v].y;
          sum[v].z += values[k][v].z;
          sum[v].w += values[k][v].w;
        }
    }
    to[i] = sum[0];
    if (two) to[i + slice.count] = sum[1];
  }
  auto const words = bytes / 4;
  auto const word = vectors * 4 + slice.index;
  if (word >= words) return;
  std::uint32_t sum = 0;
  for (std::uint32_t s = 0; s < count; ++s) sum += reinterpret_cast<std::uint32_t const volatile*>(sources[s])[word];
  static_cast<std::uint32_t*>(target)[word] = sum;
}

}  // namespace lanewise::hw
