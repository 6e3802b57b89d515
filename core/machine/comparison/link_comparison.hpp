#pragma once
#include <vector>

#include "core/machine/comparison/device_matching.hpp"
#include "core/machine/comparison/machine_comparison.hpp"

namespace lanewise {

// What differs in the links between sockets, NVLink and NVSwitches of two single hosts whose devices are matched.
std::vector<MachineDifference> link_differences(Machine const& first, Machine const& second,
                                                DeviceMatching const& matching);

}  // namespace lanewise
