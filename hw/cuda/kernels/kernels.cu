#include "hw/cuda/kernels/device_code.cuh"
#include "hw/memory/pattern.hpp"

namespace lanewise::hw {
namespace {

// Vectors in flight per thread: enough loads to cover the round trip to a remote memory without spilling registers.
// About 2 us at 450 GB/s need 0.9 MB in flight; 132 x 2 blocks x 512 threads x 16 B x 4 are 8.6 MB.
constexpr int kUnroll = 4;

__global__ void __launch_bounds__(kThreads)
    copy_kernel(std::uint8_t* __restrict__ target, std::uint8_t const* __restrict__ source, std::uint64_t bytes) {
  auto const vectors = bytes / sizeof(Vector);
  auto const* from = reinterpret_cast<Vector const*>(source);
  auto* to = reinterpret_cast<Vector*>(target);
  auto const stride = thread_count();
  auto i = thread_index();
  for (; i + (kUnroll - 1) * stride < vectors; i += kUnroll * stride) {
    Vector values[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) values[k] = __ldcs(from + i + k * stride);
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) __stcs(to + i + k * stride, values[k]);
  }
  for (; i < vectors; i += stride) to[i] = from[i];
  auto const done = vectors * sizeof(Vector);
  if (thread_index() < bytes - done) target[done + thread_index()] = source[done + thread_index()];
}

__global__ void __launch_bounds__(kThreads) add_kernel(void* target, void const* source, std::uint64_t bytes) {
  __shared__ std::uint64_t sources[2];
  if (threadIdx.x == 0) {
    sources[0] = reinterpret_cast<std::uint64_t>(target);
    sources[1] = reinterpret_cast<std::uint64_t>(source);
  }
  __syncthreads();
  add_slice(target, sources, 2, bytes, {blockIdx.x * blockDim.x + threadIdx.x, gridDim.x * blockDim.x});
}

__global__ void __launch_bounds__(kThreads) occupy_kernel(std::uint64_t nanoseconds) {
  auto const began = global_time();
  while (global_time() - began < nanoseconds) {
  }
}

__global__ void atomic_add_kernel(std::uint32_t* target, std::uint32_t const* source, std::uint64_t words) {
  for (auto i = thread_index(); i < words; i += thread_count()) atomicAdd_system(target + i, source[i]);
}

__global__ void touch_kernel(std::uint64_t const* memory, std::uint64_t words, std::uint32_t* sink) {
  std::uint64_t sum = 0;
  for (auto i = thread_index(); i < words; i += thread_count()) sum ^= memory[i];
  if (sum == 0x1234567890abcdefULL) *sink = 1;  // keeps the loads
}

__global__ void fill_kernel(std::uint8_t* memory, std::uint64_t bytes, std::uint64_t seed) {
  auto const words = bytes / 8;
  for (auto i = thread_index(); i < words; i += thread_count())
    reinterpret_cast<std::uint64_t*>(memory)[i] = pattern_word(seed, i);
  auto const offset = words * 8 + thread_index();
  if (offset < bytes) memory[offset] = pattern_byte(seed, offset);
}

__global__ void compare_kernel(std::uint8_t const* memory, std::uint64_t bytes, std::uint64_t seed,
                               unsigned long long* first) {
  auto const words = bytes / 8;
  for (auto i = thread_index(); i < words; i += thread_count()) {
    auto const wrong = reinterpret_cast<std::uint64_t const*>(memory)[i] ^ pattern_word(seed, i);
    if (wrong != 0) atomicMin(first, static_cast<unsigned long long>(i * 8 + (__ffsll(wrong) - 1) / 8));
  }
  auto const offset = words * 8 + thread_index();
  if (offset < bytes && memory[offset] != pattern_byte(seed, offset))
    atomicMin(first, static_cast<unsigned long long>(offset));
}

__global__ void gate_kernel(std::uint32_t const volatile* flag, std::uint32_t epoch, std::uint64_t limit_ns) {
  auto const began = global_time();
  // Epochs only grow and wrap after 2^32 runs: the difference says which came first.
  while (static_cast<std::int32_t>(*flag - epoch) < 0)
    if (global_time() - began > limit_ns) return;
  __threadfence_system();
}

__global__ void signal_kernel(std::uint32_t volatile* flag, std::uint32_t epoch) {
  __threadfence_system();
  *flag = epoch;
  __threadfence_system();
}

}  // namespace

void launch_copy(void* target, void const* source, std::uint64_t bytes, KernelShape shape, cudaStream_t stream) {
  copy_kernel<<<blocks_for(bytes / sizeof(Vector) / kUnroll, shape), kThreads, 0, stream>>>(
      static_cast<std::uint8_t*>(target), static_cast<std::uint8_t const*>(source), bytes);
  launched("copy kernel");
}

void launch_add(void* target, void const* source, std::uint64_t bytes, KernelShape shape, cudaStream_t stream) {
  add_kernel<<<blocks_for(bytes / sizeof(Vector) / 2, shape), kThreads, 0, stream>>>(target, source, bytes);
  launched("add kernel");
}

void launch_occupy(std::uint64_t nanoseconds, KernelShape shape, cudaStream_t stream) {
  occupy_kernel<<<static_cast<unsigned>(shape.multiprocessors), kThreads, 0, stream>>>(nanoseconds);
  launched("occupying kernel");
}

void launch_atomic_add(void* target, void const* source, std::uint64_t bytes, KernelShape shape, cudaStream_t stream) {
  auto const words = (bytes + 3) / 4;
  atomic_add_kernel<<<blocks_for(words, shape), kThreads, 0, stream>>>(
      static_cast<std::uint32_t*>(target), static_cast<std::uint32_t const*>(source), words);
  launched("atomic kernel");
}

void launch_touch(void const* memory, std::uint64_t bytes, std::uint32_t* sink, KernelShape shape,
                  cudaStream_t stream) {
  touch_kernel<<<blocks_for(bytes / 8, shape), kThreads, 0, stream>>>(static_cast<std::uint64_t const*>(memory),
                                                                      (bytes + 7) / 8, sink);
  launched("touch kernel");
}

void launch_fill(void* memory, std::uint64_t bytes, std::uint64_t seed, KernelShape shape, cudaStream_t stream) {
  fill_kernel<<<blocks_for(bytes / 8, shape), kThreads, 0, stream>>>(static_cast<std::uint8_t*>(memory), bytes, seed);
  launched("fill kernel");
}

void launch_compare(void const* memory, std::uint64_t bytes, std::uint64_t seed, unsigned long long* first,
                    KernelShape shape, cudaStream_t stream) {
  compare_kernel<<<blocks_for(bytes / 8, shape), kThreads, 0, stream>>>(static_cast<std::uint8_t const*>(memory), bytes,
                                                                        seed, first);
  launched("compare kernel");
}

void launch_gate(std::uint32_t const* flag, std::uint32_t epoch, std::uint64_t limit_ns, cudaStream_t stream) {
  gate_kernel<<<1, 1, 0, stream>>>(flag, epoch, limit_ns);
  launched("gate kernel");
}

void launch_signal(std::uint32_t* flag, std::uint32_t epoch, cudaStream_t stream) {
  signal_kernel<<<1, 1, 0, stream>>>(flag, epoch);
  launched("signal kernel");
}

}  // namespace lanewise::hw
