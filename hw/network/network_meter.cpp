#include "hw/network/network_meter.hpp"

#include <algorithm>

#include "core/measurement/repeated_sample.hpp"
#include "lanewise/machine/fingerprint.hpp"

namespace lanewise::hw {
namespace {

// Transfers in a row take about this long together: long against the clock, and against the first one's start.
constexpr double kMeasuredSeconds = 5e-3;
constexpr int kMaxInARow = 64;

int count_in_a_row(Model const& model, Step const& step) {
  auto const cost = model.cost(model.lower(step.from, step.to, step.bytes, step.op, step.way), step.bytes);
  auto const time = cost ? cost->time.value() : kMeasuredSeconds;
  return std::clamp(static_cast<int>(kMeasuredSeconds / time), 1, kMaxInARow);
}

}  // namespace

Sample NetworkMeter::alone(Step const& step) {
  auto const count = count_in_a_row(model_, step);
  std::vector<Step> steps;
  for (int i = 0; i < count; ++i) {
    auto& next = steps.emplace_back(step);
    next.after.clear();
    if (i > 0) next.after.push_back(StepId(i - 1));
  }
  return sample_of(std::move(steps), count);
}

Sample NetworkMeter::together(std::vector<Step> const& steps) { return sample_of(steps, 1); }

Sample NetworkMeter::sample_of(std::vector<Step> steps, int share) {
  auto const& machine = model_.machine();
  Plan const plan{machine.name, fingerprint(machine), std::move(steps), {}};
  auto const run = executor_->prepare(plan);
  return repeated_sample(repetition_.warm_up, repetition_.repeat, [&] { return run->once().makespan.value() / share; });
}

}  // namespace lanewise::hw
