#pragma once
// Kernels: copies by loads and stores, atomics, the release gate, and the check of what arrived. Pointers are device
// addresses or pinned host memory; all calls enqueue on a stream of the current device.
#include <cuda_runtime_api.h>

#include <cstdint>

#include "hw/memory/pattern.hpp"

namespace lanewise::hw {

// How many multiprocessors a kernel may use, and how many blocks of 512 threads on each. By default 2,048 threads, all
// that a multiprocessor holds.
struct KernelShape {
  int multiprocessors = 1;
  int blocks_each = 4;
};

// target[i] = source[i], in 16-byte vectors.
void launch_copy(void* target, void const* source, std::uint64_t bytes, KernelShape shape, cudaStream_t stream);
// target[i] += source[i] in 32-bit words, whole vectors at a time; either may be another GPU's.
void launch_add(void* target, void const* source, std::uint64_t bytes, KernelShape shape, cudaStream_t stream);
// Keeps a block of every multiprocessor busy for that long on the GPU's own clock.
void launch_occupy(std::uint64_t nanoseconds, KernelShape shape, cudaStream_t stream);
// Adds the source's 32-bit words to the target's by atomics. Memory must reach up to the next whole word.
void launch_atomic_add(void* target, void const* source, std::uint64_t bytes, KernelShape shape, cudaStream_t stream);
// Loads every byte and drops it, so that this device faults in every page.
void launch_touch(void const* memory, std::uint64_t bytes, std::uint32_t* sink, KernelShape shape, cudaStream_t stream);

void launch_fill(void* memory, std::uint64_t bytes, std::uint64_t seed, KernelShape shape, cudaStream_t stream);
// Sets *first to the offset of the first byte that differs from the pattern; *first must be ~0 before.
void launch_compare(void const* memory, std::uint64_t bytes, std::uint64_t seed, unsigned long long* first,
                    KernelShape shape, cudaStream_t stream);

void launch_fill_sum(void* memory, std::uint64_t bytes, Contribution contribution, KernelShape shape,
                     cudaStream_t stream);
// The same for a sum of several participants' patterns; `offset` is added to the offset in *first.
void launch_compare_sum(void const* memory, std::uint64_t bytes, Contribution contribution, std::uint64_t offset,
                        unsigned long long* first, KernelShape shape, cudaStream_t stream);

// Holds the stream until *flag (pinned host memory) has reached `epoch`. Gives up after `limit_ns`, so that the device
// does not hang when the host has died.
void launch_gate(std::uint32_t const* flag, std::uint32_t epoch, std::uint64_t limit_ns, cudaStream_t stream);
// Writes `epoch` to *flag (pinned host memory), visible to the host.
void launch_signal(std::uint32_t* flag, std::uint32_t epoch, cudaStream_t stream);

}  // namespace lanewise::hw
