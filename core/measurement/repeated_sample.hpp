#pragma once
#include <functional>

#include "core/measurement/meter.hpp"
#include "lanewise/model/model.hpp"

namespace lanewise {

// A median is known well enough when its 95 % confidence interval is at most this far from it, either way.
inline constexpr double kMaxNoise = 0.03;
// Where it is not, measuring goes on up to this many times the usual number of repetitions.
inline constexpr int kMaxRepetitionFactor = 10;

// Calls `once`, which returns seconds, `warm_up` times in vain, then at least `repeat` times, and more often until the
// median is known well enough or kMaxRepetitionFactor is reached.
Sample repeated_sample(int warm_up, int repeat, std::function<double()> const& once);

// How often the step is run back to back for one sample, 1 to `most`: for about 5 ms by the model's prediction, which
// is long against the clock's resolution of half a microsecond, short against changes of the GPU's clock rate.
int back_to_back_count(Model const& model, Step const& step, int most);

}  // namespace lanewise
