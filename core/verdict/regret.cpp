#include "core/verdict/regret.hpp"

namespace lanewise {

std::vector<Regret> measure_regrets(Plan const& plan, Trace const& chosen, Machine const& machine, Executor& executor) {
  std::vector<Regret> regrets;
  for (auto const& decision : plan.decisions) {
    auto const& choice = decision.candidates[decision.chosen];
    Regret regret{decision.transfer, 0, text_of(choice.way, machine), chosen.makespan, chosen.makespan};
    for (std::size_t i = 0; i < decision.candidates.size(); ++i) {
      auto const& candidate = decision.candidates[i];
      if (i == decision.chosen || !candidate.legal() || !candidate.time) continue;
      Plan other{plan.machine, plan.fingerprint, plan.steps, {}};
      other.steps[index(decision.step)].way = candidate.way;
      auto const makespan = executor.run(other).makespan;
      ++regret.alternatives;
      if (makespan >= regret.best_makespan) continue;
      regret.best_makespan = makespan;
      regret.best = text_of(candidate.way, machine);
    }
    regrets.push_back(std::move(regret));
  }
  return regrets;
}

}  // namespace lanewise
