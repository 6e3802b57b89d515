#pragma once
// Functions of the CUDA driver, found through the runtime: nothing is linked with the driver, which may be missing.

namespace lanewise::hw {

// The driver's function of that name, as of CUDA 12; null where the driver has none. Cast it to the function's type.
void* driver_entry(char const* name);

}  // namespace lanewise::hw
