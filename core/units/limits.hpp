#pragma once
// The largest and smallest figures that are accepted. They are far beyond any hardware and any job; what lies outside
// is a slip of the hand, and would end in infinities or in a simulation that cannot tell its events apart.
#include "lanewise/units/quantity.hpp"

namespace lanewise {

inline constexpr double kMaxBytes = 0x1p50;         // 1024 TiB; the sum of thousands fits in 64 bits
inline constexpr double kMinBytesPerSecond = 1;     // a byte in a second
inline constexpr double kMaxBytesPerSecond = 1e18;  // 10^6 TB/s; the simulator takes it for unlimited
inline constexpr double kMaxSeconds = 1e9;          // 31 years; a run of them still tells a microsecond
inline constexpr double kMinPerSecond = 1e-3;
inline constexpr double kMaxPerSecond = 1e18;
inline constexpr double kMinFlop = 1;
inline constexpr double kMaxFlop = 1e30;  // the largest trainings take 1e27
inline constexpr double kMinFlopPerSecond = 1;
inline constexpr double kMaxFlopPerSecond = 1e24;
inline constexpr double kMinWatts = 1e-3;
inline constexpr double kMaxWatts = 1e12;
inline constexpr double kMaxRatio = 1e6;

}  // namespace lanewise
