#include "core/verdict/regret.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/error.hpp"

namespace lanewise {

namespace {

bool is_alternative(Decision const& decision, std::size_t i) {
  auto const& candidate = decision.candidates[i];
  bool const is_the_plan = i == decision.chosen && decision.others.empty();  // a divided one has its whole beside it
  return !is_the_plan && candidate.legal() && candidate.time;
}

// Every how many decisions alternatives run, so that all of them together have at most kMaxAlternativeSteps.
std::size_t decision_stride(Plan const& plan) {
  std::size_t runs = 0;
  for (auto const& decision : plan.decisions)
    for (std::size_t i = 0; i < decision.candidates.size(); ++i) runs += is_alternative(decision, i) ? 1 : 0;
  return 1 + runs * plan.steps.size() / (kMaxAlternativeSteps + 1);
}

}  // namespace

std::vector<Regret> measure_regrets(Plan const& plan, Trace const& chosen, Machine const& machine, Executor& executor) {
  std::vector<Regret> regrets;
  auto const stride = decision_stride(plan);
  for (std::size_t d = 0; d < plan.decisions.size(); ++d) {
    auto const& decision = plan.decisions[d];
    auto const& choice = decision.candidates[decision.chosen];
    Regret regret{decision.transfer, 0, text_of(choice.way, machine), chosen.makespan, chosen.makespan};
    if (d % stride != 0) {
      regret.sampled = false;
      regret.not_run.push_back(
          fmt::format("a plan of {} steps: alternatives of one in {} transfers are run", plan.steps.size(), stride));
      regrets.push_back(std::move(regret));
      continue;
    }
    for (std::size_t i = 0; i < decision.candidates.size(); ++i) {
      if (!is_alternative(decision, i)) continue;
      auto const& candidate = decision.candidates[i];
      Seconds makespan{0};
      try {
        makespan = executor.run(with_way(plan, d, i)).makespan;
      } catch (PlanError const& error) {
        regret.not_run.emplace_back(error.what());
        continue;
      } catch (MissingError const& error) {
        regret.not_run.emplace_back(error.what());
        continue;
      }
      ++regret.alternatives;
      if (makespan >= regret.best_makespan) continue;
      regret.best_makespan = makespan;
      regret.best = text_of(candidate.way, machine);
    }
    regrets.push_back(std::move(regret));
  }
  return regrets;
}

std::vector<Regret> measure_regrets(JobSetPlanner& planner, Plan const& plan, Trace const& chosen, Executor& executor) {
  auto regrets = measure_regrets(plan, chosen, planner.collectives().model().machine(), executor);
  auto const& jobs = planner.job_set().jobs;
  for (auto const& named : plan.collectives) {
    auto const used = named.collective.algorithm;
    Regret regret{named.id, 0, std::string(to_string(used)), chosen.makespan, chosen.makespan};
    auto const job = std::find_if(jobs.begin(), jobs.end(), [&](Job const& j) { return j.id == named.id; });
    for (auto const& alternative : planner.collectives().all(std::get<Collective>(job->what))) {
      auto const& collective = *alternative.collective;
      if (collective.algorithm == used && collective.pieces == named.collective.pieces) continue;
      auto const other = planner.plan_with(named.id, collective);
      if (other.steps == plan.steps) continue;
      auto const makespan = executor.run(other).makespan;
      ++regret.alternatives;
      if (makespan >= regret.best_makespan) continue;
      regret.best_makespan = makespan;
      regret.best = to_string(collective.algorithm);
    }
    regrets.push_back(std::move(regret));
  }
  return regrets;
}

Regret measure_regret(Collective const& asked, Plan const& plan, Trace const& chosen, CollectivePlanner& planner,
                      Executor& executor) {
  auto const used = plan.collective->algorithm;
  Regret regret{std::string(to_string(asked.op)), 0, std::string(to_string(used)), chosen.makespan, chosen.makespan};
  for (auto const& other : planner.all(asked)) {
    if (other.steps == plan.steps) continue;  // between two a ring is no other plan than direct exchange
    auto const makespan = executor.run(other).makespan;
    ++regret.alternatives;
    if (makespan >= regret.best_makespan) continue;
    regret.best_makespan = makespan;
    regret.best = to_string(other.collective->algorithm);
  }
  return regret;
}

}  // namespace lanewise
