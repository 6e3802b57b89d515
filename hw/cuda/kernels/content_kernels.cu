// Fills and checks buffers to which several participants contribute: patterns and their sums.
#include "hw/cuda/kernels/device_code.cuh"
#include "hw/memory/pattern.hpp"

namespace lanewise::hw {
namespace {

__global__ void fill_sum_kernel(std::uint8_t* memory, std::uint64_t bytes, Contribution contribution) {
  auto const words = bytes / 8;
  for (auto i = thread_index(); i < words; i += thread_count())
    reinterpret_cast<std::uint64_t*>(memory)[i] = contributed_word(contribution, i);
  auto const offset = words * 8 + thread_index();
  if (offset < bytes) memory[offset] = byte_of(contributed_word(contribution, words), offset);
}

__global__ void compare_sum_kernel(std::uint8_t const* memory, std::uint64_t bytes, Contribution contribution,
                                   std::uint64_t offset, unsigned long long* first) {
  auto const words = bytes / 8;
  for (auto i = thread_index(); i < words; i += thread_count()) {
    auto const wrong = reinterpret_cast<std::uint64_t const*>(memory)[i] ^ contributed_word(contribution, i);
    if (wrong != 0)
      atomicMin(first,
                static_cast<unsigned long long>(offset + i * 8 + (__ffsll(static_cast<long long>(wrong)) - 1) / 8));
  }
  auto const last = words * 8 + thread_index();
  if (last < bytes && memory[last] != byte_of(contributed_word(contribution, words), last))
    atomicMin(first, static_cast<unsigned long long>(offset + last));
}

}  // namespace

void launch_fill_sum(void* memory, std::uint64_t bytes, Contribution contribution, KernelShape shape,
                     cudaStream_t stream) {
  fill_sum_kernel<<<blocks_for(bytes / 8, shape), kThreads, 0, stream>>>(static_cast<std::uint8_t*>(memory), bytes,
                                                                         contribution);
  launched("fill kernel");
}

void launch_compare_sum(void const* memory, std::uint64_t bytes, Contribution contribution, std::uint64_t offset,
                        unsigned long long* first, KernelShape shape, cudaStream_t stream) {
  compare_sum_kernel<<<blocks_for(bytes / 8, shape), kThreads, 0, stream>>>(static_cast<std::uint8_t const*>(memory),
                                                                            bytes, contribution, offset, first);
  launched("compare kernel");
}

}  // namespace lanewise::hw
