#include "lanewise/estimate/estimate.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include "core/estimate/admission.hpp"
#include "core/estimate/demands.hpp"
#include "core/estimate/engine_queue.hpp"
#include "core/estimate/flow_set.hpp"
#include "core/estimate/running_flows.hpp"
#include "core/estimate/schedule.hpp"
#include "core/estimate/simultaneous.hpp"
#include "core/io/interrupt.hpp"
#include "core/plan/dag_runner.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

// Sums of the same latencies in different orders differ by less than this part: such flows start together.
constexpr double kRounding = 1e-14;

// The fluid run: a discrete-event simulation whose events are the ends of delays and flows; between two events every
// flow has the rate that max-min sharing gives it.
class EstimatedRun {
 public:
  EstimatedRun(Model const& model, std::span<Step const> steps, std::span<StepDemand const> demands)
      : steps_(steps),
        demands_(demands),
        flows_(model, steps, demands),
        flowing_(flows_, steps),
        engines_(model, demands),
        runner_(dag_of(steps)) {
    result_.steps.resize(steps.size());
  }

  void hold_back(double max_utilisation, Priority priority) {
    admission_.emplace(flows_, steps_, demands_, engines_, max_utilisation, priority);
  }

  // False as soon as the clock has passed `limit` seconds: then there is no result.
  bool ends_by(double limit) {
    runner_.begin([&](StepId step) { ready(index(step)); });
    admit();
    while (!delayed_.empty() || !flowing_.empty()) {
      if (now_ > limit) return false;
      throw_if_interrupted();
      flowing_.share();
      advance();
    }
    if (!runner_.done()) throw PlanError("the plan's steps wait for one another in a circle");
    return true;
  }
  Estimate run() {
    static_cast<void>(ends_by(std::numeric_limits<double>::infinity()));
    return std::move(result_);
  }
  [[nodiscard]] Seconds makespan() const { return result_.makespan; }

  // With hold_back(): which step's end let which step begin.
  [[nodiscard]] std::vector<OrderOnly> take_order() { return admission_->take_order(); }

 private:
  void ready(std::size_t step) {
    if (admission_)
      admission_->ready(step);
    else
      engines_.ready(step, [&](std::size_t free) { begin(free); });
  }
  void admit() {
    if (admission_) admission_->admit(ended_, [&](std::size_t step) { begin(step); });
  }
  void begin(std::size_t step) {
    result_.steps[step].start = Seconds(now_);
    delayed_.emplace(now_ + demands_[step].latency().value(), step);
  }

  // To the next end of a delay or a flow.
  void advance() {
    auto elapsed = flowing_.seconds_to_next_end();
    if (!delayed_.empty()) elapsed = std::min(elapsed, delayed_.top().first - now_);
    elapsed = std::max(elapsed, 0.0);
    now_ += elapsed;
    auto const slack = simultaneous_within(now_);
    ended_.clear();
    now_ += flowing_.pass(elapsed, slack, ended_);
    start_flows(slack);
    std::sort(ended_.begin(), ended_.end());
    for (auto const step : ended_) end(step);
    admit();
  }

  // Of steps whose latency is over. Those without bytes end with it.
  void start_flows(double slack) {
    while (!delayed_.empty()) {
      auto const [due, step] = delayed_.top();
      bool const is_empty = steps_[step].bytes.value() == 0;
      if (due > now_ + (is_empty ? slack : now_ * kRounding)) return;
      delayed_.pop();
      if (is_empty) {
        ended_.push_back(step);
        continue;
      }
      flowing_.begin(step);
    }
  }

  void end(std::size_t step) {
    result_.steps[step].end = Seconds(now_);
    result_.makespan = std::max(result_.makespan, Seconds(now_));
    if (admission_)
      admission_->finished(step);
    else
      engines_.finished(step, [&](std::size_t waiting) { begin(waiting); });
    runner_.finished(StepId(step), [&](StepId next) { ready(index(next)); });
  }

  std::span<Step const> steps_;
  std::span<StepDemand const> demands_;
  FlowSet flows_;
  RunningFlows flowing_;
  EngineQueue engines_;
  std::optional<Admission> admission_;  // nullopt: only engines hold steps back
  DagRunner runner_;
  using Delay = std::pair<double, std::size_t>;
  std::priority_queue<Delay, std::vector<Delay>, std::greater<>> delayed_;  // by the end of the latency
  std::vector<std::size_t> ended_;                                          // at this event, ascending
  double now_ = 0;                                                          // seconds
  Estimate result_;
};

}  // namespace

Estimate estimate(Model const& model, std::span<Step const> steps, std::span<StepDemand const> demands) {
  if (steps.empty()) return {};
  return EstimatedRun(model, steps, demands).run();
}

ScheduledRun schedule_with_admission(Model const& model, std::span<Step const> steps,
                                     std::span<StepDemand const> demands, double max_utilisation, Priority priority) {
  if (steps.empty()) return {};
  EstimatedRun run(model, steps, demands);
  run.hold_back(max_utilisation, priority);
  auto result = run.run();
  return {std::move(result), run.take_order()};
}

void add_order(std::vector<Step>& steps, std::span<OrderOnly const> order) {
  for (auto const& [before, step] : order) steps[index(step)].order_only.push_back(before);
  for (auto& step : steps) {
    auto& order_only = step.order_only;
    std::sort(order_only.begin(), order_only.end());
    order_only.erase(std::unique(order_only.begin(), order_only.end()), order_only.end());
  }
}

Estimate estimate(Model const& model, std::vector<Step> const& steps, Folding const& folding) {
  auto const demands = demands_of(model, steps, folding);
  return estimate(model, steps, demands);
}

std::optional<Seconds> makespan_below(Seconds limit, Model const& model, std::vector<Step> const& steps,
                                      Folding const& folding) {
  auto const demands = demands_of(model, steps, folding);
  Seconds makespan{0};
  if (!steps.empty()) {
    EstimatedRun run(model, steps, demands);
    if (!run.ends_by(limit.value())) return std::nullopt;
    makespan = run.makespan();
  }
  if (makespan >= limit) return std::nullopt;
  return makespan;
}

}  // namespace lanewise
