#pragma once
#include <chrono>

namespace lanewise::hw {

// No wait of ours outlasts this: a device or a host that is gone is an error, not a hang.
inline constexpr std::chrono::nanoseconds kLongestWait = std::chrono::seconds(60);

}  // namespace lanewise::hw
