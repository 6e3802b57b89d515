#include "lanewise/verdict/scenario_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "core/estimate/demands.hpp"
#include "core/scenario/scenario_planner.hpp"
#include "core/verdict/expectation_check.hpp"
#include "core/verdict/route_words.hpp"
#include "core/verdict/timing_exclusion.hpp"
#include "core/workload/step_time.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {
namespace {

std::string names_of(std::vector<Setting> const& some, std::vector<Setting> const& more) {
  std::string names;
  for (auto const* settings : {&some, &more})
    for (auto const& setting : *settings)
      names += fmt::format("{}{}={}", names.empty() ? "" : ", ", setting.key, setting.value);
  return names;
}

CompletedRun ran(Scenario const& scenario, Variant const& variant, ScenarioPlanner& planner, Plan const& plan,
                 CheckContext const& context, InTurn const& in_turn) {
  if (context.recorded)
    if (auto completed = context.recorded(scenario.name, variant.name, plan)) return std::move(*completed);
  auto const& model = planner.collectives().model();
  auto const executor = context.executor(model);
  auto trace = executor->run(plan);
  std::vector<Regret> regrets;
  if (plan.library) return {std::move(trace), {}};  // what could be better is not what a library would do
  if (auto const& collective = planner.collective())
    regrets = {measure_regret(*collective, plan, trace, planner.collectives(), *executor, in_turn)};
  else if (auto* job_set = planner.job_set())
    regrets = measure_regrets(*job_set, plan, trace, *executor, in_turn);
  else
    regrets = measure_regrets(plan, trace, model.machine(), *executor, in_turn);
  return {std::move(trace), std::move(regrets)};
}

// Composes the step of a language model; its time is the run's.
void run_workload(Workload workload, Model const& model, std::string const& machine, CheckContext const& context,
                  VariantRun& run) {
  if (context.on_hardware) {
    run.skipped = "a step of a language model is composed of simulated parts; hardware runs it in a program of its own";
    return;
  }
  std::optional<Model> fitted_model;
  // It was measured on a machine without the scenario's settings.
  if (auto const& fitted = workload.compute.fitted)
    fitted_model.emplace(context.machine(fitted->machine.empty() ? machine : fitted->machine));
  if (context.library) workload.library = context.library;
  try {
    auto const step = step_time(workload, model, fitted_model ? *fitted_model : model, context.executor);
    run.trace.machine = model.machine().name;
    run.trace.makespan = step.step;
  } catch (PlanError const& error) {
    run.failure = error.what();
  }
}

VariantRun run_variant(Scenario const& scenario, Variant const& variant, std::string const& machine_name,
                       CheckContext const& context) {
  VariantRun run;
  run.machine = machine_name;
  run.variant = variant.name;
  auto machine = context.machine(machine_name);
  for (auto const& setting : scenario.settings) apply_setting(machine, setting, context.catalogue);
  for (auto const& setting : variant.settings) apply_setting(machine, setting, context.catalogue);
  Model const model(std::move(machine));
  if (scenario.workload) {
    run_workload(*scenario.workload, model, machine_name, context, run);
    return run;
  }
  Planner const of_transfers(model);
  auto const requests = requests_of(scenario, model.machine());
  Aim const aim{context.objective.value_or(scenario.objective), context.effort, context.detail, context.library};
  ScenarioPlanner planner(scenario, model, aim, Keep::All);
  try {
    for (auto const& request : requests) {
      auto const choice = of_transfers.choose(request);
      auto& evaluated = run.evaluated.emplace_back(EvaluatedTransfer{{}, choice.chosen});
      for (auto const& way : choice.evaluated) evaluated.candidates.push_back(of_transfers.describe(request, way));
    }
    run.plan = planner.plan();
    if (context.on_hardware && run.plan.library) {
      run.skipped = fmt::format("a plan as {} makes it is only simulated", run.plan.library->library);
      return run;
    }
    if (context.on_hardware && !(scenario.settings.empty() && variant.settings.empty())) {
      run.skipped = "settings do not change hardware: " + names_of(scenario.settings, variant.settings);
      return run;
    }
    run.bound = lower_bound(run.plan, model);
    if (context.on_hardware) run.timing_exclusion = timing_exclusion(run.plan, model.machine());
    try {
      auto const in_turn = run.timing_exclusion.empty() ? context.in_turn : InTurn();
      auto completed = ran(scenario, variant, planner, run.plan, context, in_turn);
      run.trace = std::move(completed.trace);
      if (context.on_hardware && run.timing_exclusion.empty()) run.timing_exclusion = timing_exclusion(run.trace);
      run.regrets = std::move(completed.regrets);
      run.real_time = completed.real_time;
    } catch (PlanError const& error) {
      if (!context.on_hardware) throw;
      run.skipped = error.what();  // hardware does not do every step that a plan may have
      return run;
    }
  } catch (PlanError const& error) {
    run.failure = error.what();
    return run;
  }
  for (auto const& step : run.trace.steps)
    if (step.verified && !*step.verified)
      run.failure = fmt::format("transfer '{}' arrived wrong: {}", step.transfer, step.mismatch);
  for (auto const& decision : run.plan.decisions) {
    auto& words = run.route_words.emplace_back();
    auto const add = [&](StepId id) {
      add_route_words(model, demand_of(model, run.plan.steps[index(id)]).route, words);
    };
    add(decision.step);
    for (auto const& piece : decision.others) add(piece.step);
  }
  return run;
}

// All variants on one machine.
std::vector<VariantRun> run_on(Scenario const& scenario, std::string const& machine, CheckContext const& context) {
  check_route_words(scenario, context.machine(machine));
  std::vector<VariantRun> runs;
  for (auto const& variant : scenario.variants) {
    if (context.watch) context.watch(machine, variant.name);
    auto const began = std::chrono::steady_clock::now();
    runs.push_back(run_variant(scenario, variant, machine, context));
    Seconds const here(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    if (runs.back().real_time == Seconds(0)) runs.back().real_time = here;  // else it ran elsewhere, and took that
  }
  return runs;
}

}  // namespace

ScenarioVerdict check_scenario(Scenario const& scenario, CheckContext const& context) {
  ScenarioVerdict verdict{scenario.name, scenario.title, context.mode, {}, {}};
  verdict.pos = scenario.pos;
  if (scenario.machines.empty())
    verdict.errors = check_errors(
        InputError(fmt::format("scenario '{}' names no machine; add 'machines: [NAME]' or use --on", scenario.name)),
        {}, scenario.pos);
  for (std::size_t i = 0; i < scenario.machines.size(); ++i) {
    try {
      auto runs = run_on(scenario, scenario.machines[i], context);
      std::move(runs.begin(), runs.end(), std::back_inserter(verdict.runs));
    } catch (InputError const& error) {
      auto errors = check_errors(error, scenario.machines[i], scenario.machine_pos(i));
      std::move(errors.begin(), errors.end(), std::back_inserter(verdict.errors));
    }
  }
  verdict.results = check_expectations(scenario, verdict.runs);
  return verdict;
}

}  // namespace lanewise
