#pragma once
// A small collective as an LL program for each GPU (hw/program). All runs use the same LL memory: a run begins only
// when the one before has ended on all GPUs.
#include "hw/cuda/kernels/ll_kernel.hpp"
#include "hw/cuda/runs/kernel_run.hpp"
#include "hw/program/ll_program.hpp"

namespace lanewise::hw {

class LLRun : public KernelRun {
 public:
  LLRun(Plan const& plan, Devices& devices, LLPrograms const& programs);

 private:
  struct Launch {
    DeviceMemory ll_memory;
    LLArguments arguments;
    std::uint32_t blocks = 1;
  };
  void launch(std::size_t gpu, std::uint32_t epoch) override;

  std::vector<Launch> launches_;
};

}  // namespace lanewise::hw
