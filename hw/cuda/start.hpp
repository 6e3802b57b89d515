#pragma once
#include <memory>

#include "hw/cuda/devices.hpp"

namespace lanewise::hw {

// Sets CUDA up as the executor needs it and opens the machine's devices; throws as Devices does. Before the first call
// of CUDA in the process the environment says: a hardware queue for each of our streams, and kernels loaded at the
// start and not while a gate is closed, where loading would wait for it.
std::unique_ptr<Devices> start(Machine const& machine);

}  // namespace lanewise::hw
