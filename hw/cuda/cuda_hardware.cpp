#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "hw/cuda/cuda_executor.hpp"
#include "hw/cuda/cuda_meter.hpp"
#include "hw/cuda/devices/devices.hpp"
#include "hw/executor_factory.hpp"

namespace lanewise::hw {

std::unique_ptr<Executor> make_cuda_executor(Model const& model, HardwareSettings const& settings) {
  return std::make_unique<CudaExecutor>(model, settings);
}

std::unique_ptr<Meter> make_cuda_meter(Model const& model, HardwareSettings const& settings) {
  return std::make_unique<CudaMeter>(model, settings);
}

std::string cuda_text() {
  auto const found = count_devices();
  auto const built = fmt::format("CUDA {}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  return found.count > 0 ? fmt::format("{}, {} GPUs", built, found.count)
                         : fmt::format("{}, but {}", built, found.reason);
}

}  // namespace lanewise::hw
