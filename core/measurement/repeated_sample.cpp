#include "core/measurement/repeated_sample.hpp"

#include "core/io/interrupt.hpp"
#include "core/plan/run_samples.hpp"
#include "core/units/statistics.hpp"

namespace lanewise {

Sample repeated_sample(int warm_up, int repeat, std::function<double()> const& once) {
  std::vector<double> times;
  Sample sample;
  for (int i = 0; i < warm_up + repeat * kMaxRepetitionFactor; ++i) {
    throw_if_interrupted();
    auto const took = once();
    if (i < warm_up) continue;
    times.push_back(took);
    if (times.size() < static_cast<std::size_t>(repeat)) continue;
    sample.time = Seconds(median(times));
    if (auto const interval = noise_of(times)) sample.noise = (interval->high - interval->low) / (2 * sample.time);
    if (sample.noise && *sample.noise <= kMaxNoise) break;
  }
  sample.spread = relative_spread(times);
  sample.repetitions = static_cast<int>(times.size());
  return sample;
}

}  // namespace lanewise
