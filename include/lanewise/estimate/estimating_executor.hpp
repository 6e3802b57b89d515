#pragma once
// Runs a plan by the planner's own estimate. Where the simulator is not installed, or takes too long to load; tests
// hold the two together.
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise {

// What traces, verdicts and reports call this mode.
inline constexpr char kEstimateMode[] = "estimate";

class EstimatingExecutor : public Executor {
 public:
  // The model must outlive the executor.
  explicit EstimatingExecutor(Model const& model) : model_(model) {}

  // Throws PlanError when a step needs a figure that is unknown, or a dependency is missing or circular.
  Trace run(Plan const& plan) override;

 private:
  Model const& model_;
};

}  // namespace lanewise
