#pragma once
// The CUDA side as hardware.cpp sees it. hw/cuda implements it; without_cuda.cpp does in a build without CUDA.
#include <memory>
#include <string>

#include "core/measurement/meter.hpp"
#include "hw/options/hardware_settings.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise::hw {

// Both throw MissingError when this build has no CUDA, or this machine no GPU to run on.
std::unique_ptr<Executor> make_cuda_executor(Model const& model, HardwareSettings const& settings);
std::unique_ptr<Meter> make_cuda_meter(Model const& model, HardwareSettings const& settings);
// "CUDA 13.0, 8 GPUs", or "no: " and what is missing.
std::string cuda_text();

}  // namespace lanewise::hw
