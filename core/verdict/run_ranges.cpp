#include "core/verdict/run_ranges.hpp"

#include <vector>

#include "core/estimate/estimate.hpp"
#include "core/estimate/plan_parameters.hpp"
#include "core/io/json.hpp"
#include "core/model/interval.hpp"

namespace lanewise {
namespace {

// The makespan, then the durations of the steps: seconds.
std::vector<double> estimated_times(Model const& model, Plan const& plan) {
  auto const run = estimate(model, plan.steps);
  std::vector<double> times{run.makespan.value()};
  for (auto const& step : run.steps) times.push_back((step.end - step.start).value());
  return times;
}

}  // namespace

void add_trace_ranges(Trace& trace, Plan const& plan, Model const& model) {
  auto const parameters = parameters_of(plan, model);
  auto const middles = estimated_times(model, plan);
  auto const ranges = Intervals(model).of_each(
      middles, [&](Model const& under) { return estimated_times(under, plan); }, parameters);
  auto const range = [&](std::size_t i, Seconds simulated) {
    auto const scale = middles[i] > 0 ? simulated.value() / middles[i] : 1;
    return TimeRange{through_json(Seconds(ranges[i].low * scale)), through_json(Seconds(ranges[i].high * scale))};
  };
  trace.range = range(0, trace.makespan);
  for (std::size_t i = 0; i < trace.steps.size(); ++i) trace.steps[i].range = range(i + 1, trace.steps[i].duration());
}

}  // namespace lanewise
