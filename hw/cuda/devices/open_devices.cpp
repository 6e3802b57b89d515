#include "hw/cuda/devices/open_devices.hpp"

#include <cstdlib>

namespace lanewise::hw {

void set_cuda_environment() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

std::unique_ptr<Devices> open_devices(Machine const& machine, int first) {
  set_cuda_environment();
  return std::make_unique<Devices>(machine, first);
}

}  // namespace lanewise::hw
