// lanewise plan: a scenario as a plan, with every decision.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/planning_options.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/io/interrupt.hpp"
#include "core/io/json.hpp"
#include "core/verdict/optimality_json.hpp"
#include "core/view/optimality_text.hpp"
#include "core/view/plan_text.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/plan/plan_json.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise::cli {
namespace {

struct PlanOptions {
  PlanningOptions planning;
  std::string output;
};

void run(Session& session, PlanOptions const& options) {
  InterruptScope const interruptible;
  std::optional<Progress> progress(std::in_place, "planning " + options.planning.file);
  auto const listening = listen(progress);
  auto prepared = prepare(session, options.planning);
  auto const& model = prepared.model;
  auto& plan = prepared.plan;
  add_ranges(plan, model);
  auto const bound = lower_bound(plan, model);
  auto const makespan = through_json(estimate(model, plan.steps, plan.folding).makespan);
  std::optional<Seconds> best;
  if (prepared.best) best = through_json(estimate(model, prepared.best->steps, prepared.best->folding).makespan);
  progress.reset();
  auto const json = [&] {
    auto result = to_json(plan, model.machine());
    add_optimality(result, makespan, bound);
    add_collective(result, plan, makespan);
    if (best) result["best_us"] = microseconds(*best);
    return result;
  };
  put_result(session, options.output, json, [&] {
    return plan_text(plan, model.machine()) + collective_text(plan, makespan) +
           (best ? best_plan_text(*prepared.best, *best, makespan) : "") + optimality_text(makespan, bound) + "\n";
  });
}

}  // namespace

void add_plan(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("plan", "Plan a scenario, and show every decision");
  auto options = std::make_shared<PlanOptions>();
  command->add_option("input", options->planning.file, "A scenario file, or the name of a bundled one")
      ->required()
      ->type_name("SCENARIO");
  session.add_machine(*command, "--on", false);
  add_planning(*command, options->planning);
  command->add_option("-o,--output", options->output, "Also write the plan as JSON to this file")->type_name("FILE");
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
