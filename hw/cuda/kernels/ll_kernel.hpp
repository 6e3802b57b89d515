#pragma once
// Starts a GPU's line program; what that is stands in hw/program.
#include <cuda_runtime_api.h>

#include <cstdint>

#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/timing/task_times.hpp"
#include "hw/program/ll_layout.hpp"

namespace lanewise::hw {

struct LLArguments {
  LLProgram program;
  std::uint32_t epoch = 0;  // of this run; memory of lines holds those of earlier ones
  KernelClock clock;
};
static_assert(sizeof(LLArguments) <= 4096);

// Of the line kernel, that one GPU holds at a time.
std::uint32_t max_resident_ll_blocks(KernelShape shape);
// At most that many blocks, or they may wait for ones that never start.
void launch_ll(LLArguments const& arguments, std::uint32_t blocks, cudaStream_t stream);

}  // namespace lanewise::hw
