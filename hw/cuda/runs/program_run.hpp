#pragma once
// A collective as one program for each GPU (hw/program): a single kernel on each GPU, which waits for the others by
// flags in device memory.
#include <vector>

#include "hw/cuda/kernels/program_kernel.hpp"
#include "hw/cuda/runs/kernel_run.hpp"
#include "hw/program/program_image.hpp"

namespace lanewise::hw {

class ProgramRun : public KernelRun {
 public:
  // For a plan that why_streams() lets pass.
  ProgramRun(Plan const& plan, Devices& devices);

 private:
  // What one GPU's kernel needs.
  struct Launch {
    DeviceMemory flags, image, counters;
    ProgramArguments arguments;
    std::uint32_t blocks = 1;
  };

  ProgramRun(Plan const& plan, Devices& devices, DevicePrograms const& programs);
  void launch(std::size_t gpu, std::uint32_t epoch) override;
  void load(DevicePrograms const& programs, std::vector<Buffer> const& buffers);

  std::vector<Launch> launches_;
};

}  // namespace lanewise::hw
