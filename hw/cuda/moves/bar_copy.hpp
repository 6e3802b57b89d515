#pragma once
// Loads and stores of the CPU on GPU memory, through BAR1. gdrcopy maps it; its library is loaded at run time.
#include <functional>

#include "hw/cuda/memory/device_buffer.hpp"

namespace lanewise::hw {

// A function that copies on the calling thread; GPU memory is mapped at one end or at both. Throws MissingError when
// gdrcopy or its kernel module is missing, DeviceError when it refuses the mapping.
std::function<void()> bar_copy(DeviceBuffer const& source, DeviceBuffer const& target);

}  // namespace lanewise::hw
