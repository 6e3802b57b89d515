#pragma once
// Functions of CUDA's driver, which the runtime finds for us: nothing is linked with the driver, which may be missing.

namespace lanewise::hw {

// As of CUDA 12; null where the driver has no such function. Cast it to the type of what it is the name of.
void* driver_entry(char const* name);

}  // namespace lanewise::hw
