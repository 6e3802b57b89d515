#pragma once
// Times between events on one device.
#include "core/units/quantity.hpp"
#include "hw/cuda/handles.hpp"

namespace lanewise::hw {

// Both recorded and reached.
Seconds between(cudaEvent_t from, cudaEvent_t to);

// What two events in a stream are apart with nothing between them: they cost the device that much themselves.
Seconds cost_of_events(Device device);

}  // namespace lanewise::hw
