#pragma once
// An executor whose times are the planner's estimates, for tests that need no simulator.
#include "core/estimate/estimate.hpp"
#include "core/plan/executor.hpp"

namespace lanewise::test {

inline Trace estimated(Model const& model, Plan const& plan) {
  auto const run = estimate(model, plan.steps);
  Trace trace;
  trace.makespan = run.makespan;
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    trace.steps.push_back({plan.steps[i].transfer, run.steps[i].start, run.steps[i].end, plan.steps[i].bytes, {}});
  return trace;
}

class EstimatingExecutor : public Executor {
 public:
  explicit EstimatingExecutor(Model const& model) : model_(model) {}
  Trace run(Plan const& plan) override { return estimated(model_, plan); }

 private:
  Model const& model_;
};

}  // namespace lanewise::test
