#include "hw/program/plan_meter.hpp"

#include "core/measurement/repeated_sample.hpp"
#include "lanewise/machine/fingerprint.hpp"

namespace lanewise::hw {
namespace {

constexpr int kMaxBackToBack = 64;

}  // namespace

Sample PlanMeter::alone(Step const& step) {
  auto const count = back_to_back_count(model_, step, kMaxBackToBack);
  std::vector<Step> steps;
  for (int i = 0; i < count; ++i) {
    auto& next = steps.emplace_back(step);
    next.after.clear();
    if (i > 0) next.after.push_back(StepId(i - 1));
  }
  return sample_of(std::move(steps), count);
}

Sample PlanMeter::together(std::vector<Step> const& steps) { return sample_of(steps, 1); }

Sample PlanMeter::sample_of(std::vector<Step> steps, int share) {
  auto const& machine = model_.machine();
  Plan const plan{machine.name, fingerprint(machine), std::move(steps), {}};
  auto const run = executor_->prepare(plan);
  return repeated_sample(repetition_.warm_up, repetition_.repeat, [&] { return run->once().makespan.value() / share; });
}

}  // namespace lanewise::hw
