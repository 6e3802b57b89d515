#pragma once
// Starts a GPU's program (hw/program/device_program.hpp).
#include <cuda_runtime_api.h>

#include <cstdint>

#include "hw/cuda/kernels/kernels.hpp"
#include "hw/cuda/kernels/task_times.hpp"
#include "hw/program/program_layout.hpp"

namespace lanewise::hw {

struct ProgramArguments {
  ulonglong2 const* image = nullptr;
  std::uint32_t image_bytes = 0;
  std::uint32_t epoch = 0;            // the number of this run; differs from the one before
  std::uint32_t* flags = nullptr;     // this GPU's
  std::uint32_t* counters = nullptr;  // one for each task, 0 between runs
  KernelClock clock;
  std::uint32_t arrivals = 0;
  std::uint64_t arrival[kMaxProgramGpus] = {};
};

// How many blocks of the program kernel one GPU holds at a time.
std::uint32_t max_resident_program_blocks(KernelShape shape);
// `blocks` must not exceed that number: otherwise blocks may wait for others that never start.
void launch_program(ProgramArguments const& arguments, std::uint32_t blocks, cudaStream_t stream);

}  // namespace lanewise::hw
