#pragma once
// Runs a plan against a SimGrid model of the machine, made of the same demands as the planner's estimates.
#include "core/model/model.hpp"
#include "core/plan/executor.hpp"

namespace lanewise::sim {

class SimGridExecutor : public Executor {
 public:
  // The model must outlive the executor.
  explicit SimGridExecutor(Model const& model) : model_(model) {}

  // Throws PlanError when a step needs a figure that nobody knows.
  Trace run(Plan const& plan) override;

 private:
  Model const& model_;
};

}  // namespace lanewise::sim

// For a program that loads the simulator only when it simulates (loading SimGrid costs about 20 ms). The caller owns
// what it gets.
extern "C" lanewise::Executor* lanewise_make_sim_executor(lanewise::Model const* model);
extern "C" char const* lanewise_sim_version();
