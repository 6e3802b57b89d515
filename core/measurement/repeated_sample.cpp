#include "core/measurement/repeated_sample.hpp"

#include <algorithm>

#include "core/io/interrupt.hpp"
#include "core/plan/run_samples.hpp"
#include "core/units/statistics.hpp"

namespace lanewise {
namespace {

constexpr double kMeasuredSeconds = 5e-3;

}  // namespace

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

int back_to_back_count(Model const& model, Step const& step, int most) {
  auto const cost = model.cost(model.lower(step.from, step.to, step.bytes, step.op, step.way), step.bytes);
  auto const time = cost ? cost->time.value() : kMeasuredSeconds;
  return std::clamp(static_cast<int>(kMeasuredSeconds / time), 1, most);
}

}  // namespace lanewise
