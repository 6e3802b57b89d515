#pragma once
#include <vector>

#include "core/machine/comparison/device_matching.hpp"
#include "core/machine/comparison/machine_comparison.hpp"

namespace lanewise {

// What differs in the settings, the software and the overrides of two single hosts whose devices are matched.
std::vector<MachineDifference> host_differences(Machine const& first, Machine const& second,
                                                DeviceMatching const& matching);

}  // namespace lanewise
