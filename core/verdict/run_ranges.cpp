#include "core/verdict/run_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/estimate/demands.hpp"
#include "core/estimate/plan_parameters.hpp"
#include "core/estimate/schedule.hpp"
#include "core/io/json.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/model/interval.hpp"

namespace lanewise {
namespace {

// An estimate of more steps takes seconds.
constexpr std::size_t kMaxStepsOfBothEnds = 100'000;

// The capacities of all resources that have one, then the slots of all engines.
std::vector<double> limits_of(Model const& model) {
  std::vector<double> limits;
  for (std::size_t i = 0; i < model.resources().count(); ++i)
    if (auto const capacity = model.capacity(ResourceId(i))) limits.push_back(capacity->value());
  for (std::size_t i = 0; i < model.resources().engine_count(); ++i) limits.push_back(model.slots(EngineId(i)));
  return limits;
}

bool run_alike(StepDemand const& one, StepDemand const& other) {
  return one.cap == other.cap && one.latency() == other.latency() && one.engines == other.engines &&
         std::equal(one.uses.begin(), one.uses.end(), other.uses.begin(), other.uses.end());
}

// The makespan, then the durations of the steps: seconds.
class EstimatedTimes {
 public:
  EstimatedTimes(Model const& model, Plan const& plan)
      : plan_(plan),
        limits_(limits_of(model)),
        demands_(demands_of(model, plan.steps, plan.folding)),
        times_(times_of(model, demands_)) {}

  [[nodiscard]] std::vector<double> const& nominal() const { return times_; }
  // The same under other assumptions. Where they change nothing that the plan uses, nothing is run again.
  [[nodiscard]] std::vector<double> under(Model const& model) const {
    auto const demands = demands_of(model, plan_.steps, plan_.folding);
    bool const is_same = std::equal(demands.begin(), demands.end(), demands_.begin(), demands_.end(), run_alike) &&
                         limits_of(model) == limits_;
    return is_same ? times_ : times_of(model, demands);
  }

 private:
  [[nodiscard]] std::vector<double> times_of(Model const& model, StepDemands const& demands) const {
    auto const run = estimate(model, plan_.steps, demands);
    std::vector<double> times{run.makespan.value()};
    for (auto const& step : run.steps) times.push_back((step.end - step.start).value());
    return times;
  }

  Plan const& plan_;
  std::vector<double> limits_;
  StepDemands demands_;
  std::vector<double> times_;
};

// Two independent reasons: the root of the sum of the squares of the distances from the middle.
TimeRange together(TimeRange const& one, TimeRange const& other, Seconds middle) {
  auto const distance = [&](Seconds a, Seconds b) {
    return Seconds(std::hypot((a - middle).value(), (b - middle).value()));
  };
  return {through_json(middle - distance(one.low, other.low)), through_json(middle + distance(one.high, other.high))};
}

}  // namespace

void add_trace_ranges(Trace& trace, Plan const& plan, Model const& model, EstimateListener const& on_estimate) {
  auto const parameters = parameters_of(plan, model);
  auto const ends = plan.steps.size() <= kMaxStepsOfBothEnds ? Intervals::Ends::Both : Intervals::Ends::Further;
  auto const estimates = (ends == Intervals::Ends::Both ? 2 : 1) * parameters.size();
  EstimatedTimes const times(model, plan);
  auto const& middles = times.nominal();
  auto const ranges = Intervals(model).of_each(
      middles,
      [&, done = std::size_t{0}](Model const& moved) mutable {
        auto moved_times = times.under(moved);
        if (on_estimate) on_estimate(++done, estimates);
        return moved_times;
      },
      parameters, ends);
  auto const range = [&](std::size_t i, Seconds simulated) {
    auto const scale = middles[i] > 0 ? simulated.value() / middles[i] : 1;
    return TimeRange{through_json(Seconds(ranges[i].low * scale)), through_json(Seconds(ranges[i].high * scale))};
  };
  trace.range =
      trace.range ? together(*trace.range, range(0, trace.makespan), trace.makespan) : range(0, trace.makespan);
  for (std::size_t i = 0; i < trace.steps.size(); ++i) trace.steps[i].range = range(i + 1, trace.steps[i].duration());
}

}  // namespace lanewise
