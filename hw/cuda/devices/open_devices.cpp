#include "hw/cuda/devices/open_devices.hpp"

#include <cstdlib>
#include <string>

namespace lanewise::hw {

namespace {

constexpr int kHardwareQueues = 32;  // as many as CUDA has

}  // namespace

void set_cuda_environment() {
  // Fewer queues than streams would let what waits for another device hold up what that device waits for.
  auto const* queues = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  if (queues == nullptr || std::atoi(queues) < kHardwareQueues)
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(kHardwareQueues).c_str(), 1);
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

std::unique_ptr<Devices> open_devices(Machine const& machine, int first) {
  set_cuda_environment();
  return std::make_unique<Devices>(machine, first);
}

}  // namespace lanewise::hw
