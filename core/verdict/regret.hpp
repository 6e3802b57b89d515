#pragma once
// Was the choice right? Measured by running every legal alternative too, one decision at a time.
#include <string>
#include <vector>

#include "core/model/model.hpp"
#include "core/plan/executor.hpp"
#include "core/plan/plan.hpp"
#include "core/planner/jobs/job_set.hpp"

namespace lanewise {

struct Regret {
  std::string transfer;
  std::size_t alternatives = 0;  // that were run
  std::string best;              // the way of the fastest of all runs
  Seconds chosen_makespan{0};
  Seconds best_makespan{0};
  std::vector<std::string> not_run = {};  // legal alternatives that this executor cannot run, and why
  // How much longer the plan takes than with the best alternative: 0.02 is 2 %.
  [[nodiscard]] double share() const { return chosen_makespan / best_makespan - 1; }
};

// One regret a decision. `chosen` is the plan's own trace. Alternatives whose cost is unknown are left out.
std::vector<Regret> measure_regrets(Plan const& plan, Trace const& chosen, Machine const& machine, Executor& executor);

// Of a workload: one a decision, and behind them one a collective of the plan, whose other algorithms are tried while
// the others keep theirs.
std::vector<Regret> measure_regrets(JobSet const& job_set, Plan const& plan, Trace const& chosen, Model const& model,
                                    Aim aim, Executor& executor);

// Of a collective's algorithm, against all others that do it. Other algorithms than the one asked for are no regret.
Regret measure_regret(Collective const& asked, Plan const& plan, Trace const& chosen, Model const& model,
                      Executor& executor);

}  // namespace lanewise
