#pragma once
#include <memory>

#include "hw/cuda/devices.hpp"

namespace lanewise::hw {

// Before the first call of CUDA in the process, the environment says what the executor needs: a hardware queue for each
// of our streams, and kernels loaded at the start and not while a gate is closed, where loading would wait for it.
void set_environment();

// That, and the machine's devices opened; throws as Devices does.
std::unique_ptr<Devices> start(Machine const& machine);

}  // namespace lanewise::hw
