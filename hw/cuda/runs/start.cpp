#include "hw/cuda/runs/start.hpp"

#include <cstdlib>

namespace lanewise::hw {

void set_environment() {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

std::unique_ptr<Devices> start(Machine const& machine) {
  set_environment();
  return std::make_unique<Devices>(machine);
}

}  // namespace lanewise::hw
