#pragma once
// Times between events on one device.
#include "hw/cuda/runtime/handles.hpp"
#include "lanewise/units/quantity.hpp"

namespace lanewise::hw {

// The time between two events that the device has passed.
Seconds between(cudaEvent_t from, cudaEvent_t to);

// The time between two events in a stream with nothing between them: what the events themselves cost the device.
Seconds cost_of_events(Device device);

}  // namespace lanewise::hw
