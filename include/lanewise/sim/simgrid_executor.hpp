#pragma once
// Runs a plan in a SimGrid model of the machine. It takes the same demands, engine queue and order as the estimate.
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise::sim {

class SimGridExecutor : public Executor {
 public:
  // The model must outlive the executor.
  explicit SimGridExecutor(Model const& model) : model_(model) {}

  // Throws PlanError when a step needs a figure that is unknown, or a dependency is missing or circular.
  Trace run(Plan const& plan) override;

 private:
  Model const& model_;
};

}  // namespace lanewise::sim

// For a program that loads this library only when it simulates (loading SimGrid takes about 20 ms). The caller owns the
// executor.
extern "C" lanewise::Executor* lanewise_make_sim_executor(lanewise::Model const* model);
extern "C" char const* lanewise_sim_version();
