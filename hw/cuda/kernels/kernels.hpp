#pragma once
// Everything that runs on SMs: copies by loads and stores, atomics, the release gate, and the check of what arrived.
// Pointers are device addresses or pinned host memory; all calls are enqueued on a stream of the current device.
#include <cuda_runtime_api.h>

#include <cstdint>

#include "hw/memory/pattern.hpp"

namespace lanewise::hw {

// How many multiprocessors a kernel may use, and how many blocks on each: by default 2,048 threads, all that one holds.
struct KernelShape {
  int multiprocessors = 1;
  int blocks_each = 4;
};

// target[i] = source[i], in 16-byte vectors; whichever of the two is remote is what the links carry.
void launch_copy(void* target, void const* source, std::uint64_t bytes, KernelShape shape, cudaStream_t stream);
// target[i] += source[i] in 32-bit words, whole vectors at a time; either may be another GPU's.
void launch_add(void* target, void const* source, std::uint64_t bytes, KernelShape shape, cudaStream_t stream);
// Does nothing for that long on the GPU's own clock, on a block of every multiprocessor.
void launch_occupy(std::uint64_t nanoseconds, KernelShape shape, cudaStream_t stream);
// Adds the source's 32-bit words to the target's by atomics; `bytes` rounded up to whole words must be allocated.
void launch_atomic_add(void* target, void const* source, std::uint64_t bytes, KernelShape shape, cudaStream_t stream);
// Loads every byte and drops it: each page is faulted in by this device.
void launch_touch(void const* memory, std::uint64_t bytes, std::uint32_t* sink, KernelShape shape, cudaStream_t stream);

void launch_fill(void* memory, std::uint64_t bytes, std::uint64_t seed, KernelShape shape, cudaStream_t stream);
// *first becomes the least offset of a byte that is not the pattern's; it must hold ~0 before.
void launch_compare(void const* memory, std::uint64_t bytes, std::uint64_t seed, unsigned long long* first,
                    KernelShape shape, cudaStream_t stream);

void launch_fill_sum(void* memory, std::uint64_t bytes, Contribution contribution, KernelShape shape,
                     cudaStream_t stream);
// The same for what several contribute to; `offset` is added to what *first becomes.
void launch_compare_sum(void const* memory, std::uint64_t bytes, Contribution contribution, std::uint64_t offset,
                        unsigned long long* first, KernelShape shape, cudaStream_t stream);

// Holds the stream until *flag (pinned host memory) has reached `epoch`. Gives up after `limit_ns`, so that a host that
// died frees the device.
void launch_gate(std::uint32_t const* flag, std::uint32_t epoch, std::uint64_t limit_ns, cudaStream_t stream);
// Writes `epoch` to *flag (pinned host memory), seen by the host.
void launch_signal(std::uint32_t* flag, std::uint32_t epoch, cudaStream_t stream);

}  // namespace lanewise::hw
