#pragma once
// How much slower the chosen plan is than the best alternative, measured by running every legal alternative, one
// decision at a time.
#include <string>
#include <vector>

#include "core/model/model.hpp"
#include "core/plan/executor.hpp"
#include "core/plan/plan.hpp"
#include "core/planner/jobs/job_set.hpp"

namespace lanewise {

struct Regret {
  std::string transfer;
  std::size_t alternatives = 0;  // number of alternatives that ran
  std::string best;              // the way of the fastest run, the plan's own included
  Seconds chosen_makespan{0};
  Seconds best_makespan{0};
  std::vector<std::string> not_run = {};  // reasons why legal alternatives could not run
  bool sampled = true;                    // false: its alternatives were left out, for there are too many
  // 0.02 if the plan takes 2 % longer than with the best alternative.
  [[nodiscard]] double share() const { return best_makespan > Seconds(0) ? chosen_makespan / best_makespan - 1 : 0; }
};

// One regret for each decision. `chosen` is the plan's own trace. Leaves out alternatives of unknown cost. Where
// running all alternatives would take more than kMaxAlternativeSteps, only those of some decisions run, evenly spread
// over the plan; the others say so in `not_run`.
inline constexpr std::size_t kMaxAlternativeSteps = 1'000'000;  // some seconds of simulation
std::vector<Regret> measure_regrets(Plan const& plan, Trace const& chosen, Machine const& machine, Executor& executor);

// For a job set: one for each decision, then one for each collective, which runs with every other algorithm while the
// other collectives keep theirs.
std::vector<Regret> measure_regrets(JobSetPlanner& planner, Plan const& plan, Trace const& chosen, Executor& executor);

// For a single collective, over all algorithms that `asked` allows.
Regret measure_regret(Collective const& asked, Plan const& plan, Trace const& chosen, CollectivePlanner& planner,
                      Executor& executor);

}  // namespace lanewise
