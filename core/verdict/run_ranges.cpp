#include "core/verdict/run_ranges.hpp"

#include "core/estimate/plan_parameters.hpp"
#include "core/io/json.hpp"
#include "core/model/interval.hpp"

namespace lanewise {

void add_trace_ranges(Trace& trace, Plan const& plan, Model const& model, MakeExecutor const& executor) {
  auto const figures = [&](Model const& under) {
    auto const run = executor(under)->run(plan);
    std::vector<double> values{run.makespan.value()};
    for (auto const& step : run.steps) values.push_back(step.duration().value());
    return values;
  };
  auto const parameters = parameters_of(plan, model);
  auto const ranges = Intervals(model).of_each(figures, parameters);
  auto const range = [&](std::size_t i) {
    return TimeRange{through_json(Seconds(ranges[i].low)), through_json(Seconds(ranges[i].high))};
  };
  trace.range = range(0);
  for (std::size_t i = 0; i < trace.steps.size(); ++i) trace.steps[i].range = range(i + 1);
}

}  // namespace lanewise
