#pragma once
// Starts a GPU's LL program (hw/program/ll_program.hpp).
#include <cuda_runtime_api.h>

#include <cstdint>

#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/kernels/task_times.hpp"
#include "hw/program/ll_layout.hpp"

namespace lanewise::hw {

struct LLArguments {
  LLProgram program;
  std::uint32_t epoch = 0;  // the number of this run; LL memory still holds earlier ones
  KernelClock clock;
};
static_assert(sizeof(LLArguments) <= 4096);

// How many blocks of the LL kernel one GPU holds at a time.
std::uint32_t max_resident_ll_blocks(KernelShape shape);
// `blocks` must not exceed that number: otherwise blocks may wait for others that never start.
void launch_ll(LLArguments const& arguments, std::uint32_t blocks, cudaStream_t stream);

}  // namespace lanewise::hw
