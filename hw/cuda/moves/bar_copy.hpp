#pragma once
// The CPU's own loads and stores on GPU memory, through BAR1 mapped by gdrcopy, whose library is looked for at run
// time.
#include <functional>

#include "hw/cuda/memory/device_buffer.hpp"

namespace lanewise::hw {

// What copies by the calling thread where GPU memory, mapped, is at one end or at both. Throws
// MissingError when gdrcopy or its kernel module is not here, DeviceError when it refuses the mapping.
std::function<void()> bar_copy(DeviceBuffer const& source, DeviceBuffer const& target);

}  // namespace lanewise::hw
