#pragma once
// How much slower the chosen plan is than the best alternative, measured by running every legal alternative, one
// decision at a time.
#include <optional>
#include <string>
#include <vector>

#include "lanewise/machine/machine.hpp"
#include "lanewise/plan/executor.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/planner/jobs/job_set.hpp"
#include "lanewise/verdict/rival.hpp"

namespace lanewise {

struct Regret {
  std::string transfer;
  std::size_t alternatives = 0;  // number of alternatives that ran
  std::string best;              // the way of the best run, the plan's own included
  Seconds chosen_makespan{0};
  Seconds best_makespan{0};
  std::vector<std::string> not_run = {};  // reasons why legal alternatives could not run
  bool sampled = true;                    // false: its alternatives were left out, for there are too many
  std::vector<RivalResult> rivals = {};   // those that ran; none in a runs/1

  // 0.02 if the plan takes 2 % longer than with the best alternative. On hardware only what is proven counts: a
  // difference within the noise is none.
  [[nodiscard]] double share() const;
  // The least that it can be, given the noise.
  [[nodiscard]] double least_share() const;
  // Against all rivals: worse than any is Worse, and not settled against any is WithinNoise.
  [[nodiscard]] Standing standing() const;
  // The rival that stands best against the plan, where the plan is worse. Nullptr: it is not.
  [[nodiscard]] RivalResult const* better_rival() const;
};

// How alternatives run, besides the plan itself. Absent: each once.
using InTurn = std::optional<Alternation>;

// One regret for each decision. `chosen` is the plan's own trace. Leaves out alternatives of unknown cost. Where
// running all alternatives would take more than kMaxAlternativeSteps, only those of some decisions run, evenly spread
// over the plan; the others say so in `not_run`.
inline constexpr std::size_t kMaxAlternativeSteps = 1'000'000;  // some seconds of simulation
std::vector<Regret> measure_regrets(Plan const& plan, Trace const& chosen, Machine const& machine, Executor& executor,
                                    InTurn const& in_turn = {});

// For a job set: one for each decision, then one for each collective, which runs with every other algorithm while the
// other collectives keep theirs.
std::vector<Regret> measure_regrets(JobSetPlanner& planner, Plan const& plan, Trace const& chosen, Executor& executor,
                                    InTurn const& in_turn = {});

// For a single collective, over all algorithms that `asked` allows.
Regret measure_regret(Collective const& asked, Plan const& plan, Trace const& chosen, CollectivePlanner& planner,
                      Executor& executor, InTurn const& in_turn = {});

}  // namespace lanewise
