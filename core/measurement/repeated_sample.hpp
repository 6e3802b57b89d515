#pragma once
#include <functional>

#include "core/measurement/meter.hpp"

namespace lanewise {

// A median is known well enough when its 95 % confidence interval is at most this far from it, either way.
inline constexpr double kMaxNoise = 0.03;
// Where it is not, measuring goes on up to this many times the usual number of repetitions.
inline constexpr int kMaxRepetitionFactor = 10;

// Calls `once`, which returns seconds, `warm_up` times in vain, then at least `repeat` times, and more often until the
// median is known well enough or kMaxRepetitionFactor is reached.
Sample repeated_sample(int warm_up, int repeat, std::function<double()> const& once);

}  // namespace lanewise
