#pragma once
// A small collective as a line program for each GPU (hw/program), run as often as wanted. Its memory of lines is used
// again by the next run, which begins only when this one has ended on all GPUs.
#include "hw/cuda/kernels/ll_kernel.hpp"
#include "hw/cuda/runs/kernel_run.hpp"
#include "hw/program/ll_program.hpp"

namespace lanewise::hw {

class LLRun : public KernelRun {
 public:
  LLRun(Plan const& plan, Devices& devices, LLPrograms const& programs);

 private:
  struct Launch {
    DeviceMemory lines;
    LLArguments arguments;
    std::uint32_t blocks = 1;
  };
  void launch(std::size_t gpu, std::uint32_t epoch) override;

  std::vector<Launch> launches_;
};

}  // namespace lanewise::hw
