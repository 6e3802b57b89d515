#pragma once
#include <memory>

#include "hw/cuda/devices/devices.hpp"

namespace lanewise::hw {

// Sets the CUDA environment variables that the executor needs: one hardware queue for each of our streams, even where
// the user has set fewer, and, unless the user says otherwise, kernels loaded at the start, because loading one later
// would wait for a closed gate. Must be called before the first CUDA call of the process.
void set_cuda_environment();

// Calls set_cuda_environment() and opens the machine's devices; `first` and what it throws are as those of the
// constructor of Devices.
std::unique_ptr<Devices> open_devices(Machine const& machine, int first = 0);

}  // namespace lanewise::hw
