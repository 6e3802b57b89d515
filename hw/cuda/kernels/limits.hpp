#pragma once
#include <chrono>

namespace lanewise::hw {

// The limit of every wait: a device or a host that is gone is an error, not a hang.
inline constexpr std::chrono::nanoseconds kWaitLimit = std::chrono::seconds(60);

}  // namespace lanewise::hw
