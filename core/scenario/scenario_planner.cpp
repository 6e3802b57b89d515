#include "core/scenario/scenario_planner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lanewise/io/error.hpp"
#include "lanewise/planner/libraries/library.hpp"
#include "lanewise/planner/search/set_planner.hpp"

namespace lanewise {

namespace {

// One step of a language model is many plans, one for each kind of its messages.
void refuse_workload(Scenario const& scenario) {
  if (scenario.workload)
    throw PlanError(
        fmt::format("scenario '{}' is a step of a language model, which is no single plan; "
                    "`lanewise workload` and `lanewise check` take it",
                    scenario.name));
}

}  // namespace

std::optional<Library> library_of(Scenario const& scenario, Aim const& aim) {
  if (aim.library || !scenario.collective) return aim.library;
  return scenario.collective->library;
}

ScenarioPlanner::ScenarioPlanner(Scenario const& scenario, Model const& model, Aim aim, Keep keep)
    : scenario_(scenario),
      model_(model),
      aim_(aim),
      collectives_(model, keep, is_job_set(scenario) ? Detail::EveryStep : aim.detail),
      collective_(collective_of(scenario, model.machine())) {
  refuse_workload(scenario);
  if (is_job_set(scenario)) job_set_.emplace(collectives_, workload_of(scenario, model.machine()), aim);
}

Plan ScenarioPlanner::plan() {
  auto const library = library_of(scenario_, aim_);
  if (library && collective_) return plan_by_library(model_, *collective_, *library);
  if (collective_) return collectives_.best(*collective_);
  if (!job_set_) return SetPlanner(model_).plan(requests_of(scenario_, model_.machine()), aim_);
  auto plan = job_set_->plan();
  auto const position = [&](Decision const& decision) {
    return std::find_if(scenario_.transfers.begin(), scenario_.transfers.end(),
                        [&](TransferSpec const& transfer) { return transfer.id == decision.transfer; });
  };
  std::sort(plan.decisions.begin(), plan.decisions.end(),
            [&](Decision const& a, Decision const& b) { return position(a) < position(b); });
  return plan;
}

Plan plan_of(Scenario const& scenario, Model const& model, Aim aim) {
  // Without a planner's own copy of a plan that may have a hundred thousand steps.
  refuse_workload(scenario);
  auto const collective = collective_of(scenario, model.machine());
  auto const library = library_of(scenario, aim);
  if (library && !collective)
    throw PlanError(
        fmt::format("scenario '{}' has no 'collective': {} plans nothing else", scenario.name, to_string(*library)));
  if (library) return plan_by_library(model, *collective, *library);
  if (collective) return plan_collective(model, *collective, aim.detail, aim.effort);
  return ScenarioPlanner(scenario, model, aim).plan();
}

}  // namespace lanewise
