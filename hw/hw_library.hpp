#pragma once
// The hardware side as the program sees it: a library that is loaded when hardware is asked for.
#include "hw/hardware.hpp"

namespace lanewise::hw {

// Loads liblanewise_hw.so at the first call. Throws MissingError when it cannot be loaded.
Hardware const& hardware();

}  // namespace lanewise::hw
