// lanewise run: a plan as a trace, simulated or on hardware.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/executor_options.hpp"
#include "cli/planning_options.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/estimate/trace_demands.hpp"
#include "core/io/interrupt.hpp"
#include "core/io/json.hpp"
#include "core/verdict/comparison.hpp"
#include "core/verdict/optimality_json.hpp"
#include "core/verdict/run_ranges.hpp"
#include "core/view/comparison_text.hpp"
#include "core/view/optimality_text.hpp"
#include "core/view/plan_text.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"
#include "sim/sim_library.hpp"

namespace lanewise::cli {
namespace {

struct RunOptions {
  PlanningOptions planning;
  std::string mode = "sim";
  std::string output;
  HardwareOptions hardware;
};

// Data that arrived wrong is an error however fast it was.
void report_wrong_data(Session& session, Trace const& trace) {
  for (auto const& step : trace.steps)
    if (step.verified && !*step.verified) {
      fmt::print(stderr, "transfer '{}' arrived wrong: {}\n", step.transfer, step.mismatch);
      session.exit_code = ExitCode::ExpectationFailed;
    }
}

void run_both(Session& session, RunOptions const& options, Model const& model, Plan const& plan,
              std::optional<Progress>& progress) {
  auto predicted = sim::make_executor(model)->run(plan);
  auto measured = make_executor("hw", model, options.hardware)->run(plan);
  for (auto* trace : {&predicted, &measured}) describe_steps(*trace, plan, model.machine());
  progress.reset();
  report_wrong_data(session, measured);
  auto const comparison = compare(predicted, measured);
  put_result(
      session, options.output, [&] { return comparison_json(comparison); }, [&] { return comparison_text(comparison); },
      &model.machine());
}

// Of a large plan this takes longer than all before it.
void add_ranges(Trace& trace, Plan const& plan, Model const& model, Progress& progress) {
  add_trace_ranges(trace, plan, model, [&](std::size_t done, std::size_t all) {
    progress.at({"range of the run", "estimates", done, all});
  });
}

void run(Session& session, RunOptions& options) {
  if (uses_hardware(options.mode) && !options.hardware.join()) return;
  InterruptScope const interruptible;
  std::optional<Progress> progress(std::in_place, "planning and running " + options.planning.file);
  auto const listening = listen(progress);
  options.planning.unfolded = options.planning.unfolded || uses_hardware(options.mode);
  auto const prepared = prepare(session, options.planning);
  auto const& model = prepared.model;
  auto const& plan = prepared.plan;
  if (plan.library && uses_hardware(options.mode))
    throw InputError(fmt::format("a plan as {} makes it is only simulated; on hardware run the library itself",
                                 plan.library->library));
  if (options.mode == "both") return run_both(session, options, model, plan, progress);
  auto trace = make_executor(options.mode, model, options.hardware)->run(plan);
  if (!uses_hardware(options.mode)) add_ranges(trace, plan, model, *progress);
  describe_steps(trace, plan, model.machine());
  auto const bound = lower_bound(plan, model);
  std::optional<Seconds> best;
  if (prepared.best) best = make_executor(options.mode, model, options.hardware)->run(*prepared.best).makespan;
  progress.reset();
  report_wrong_data(session, trace);
  auto const json = [&] {
    describe_demands(trace, plan, model);
    auto result = to_json(trace);
    add_optimality(result, trace.makespan, bound);
    add_collective(result, plan, trace.makespan);
    if (best) result["best_us"] = microseconds(*best);
    return result;
  };
  put_result(
      session, options.output, json,
      [&] {
        return trace_text(trace, plan, model.machine()) + "\n" + collective_text(plan, trace.makespan) +
               (best ? best_plan_text(*prepared.best, *best, trace.makespan) : "") +
               optimality_text(trace.makespan, bound) + "\n";
      },
      &model.machine());
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("run", "Run a scenario or a plan, and show when each step ran");
  auto options = std::make_shared<RunOptions>();
  command
      ->add_option("input", options->planning.file,
                   "A scenario file, the name of a bundled one, or a plan made by `lanewise plan -o`")
      ->required()
      ->type_name("SCENARIO|PLAN");
  session.add_machine(*command, "--on", false);
  session.add_html(*command);
  add_planning(*command, options->planning);
  command->add_option("-o,--output", options->output, "Also write the result as JSON to this file")->type_name("FILE");
  add_mode(*command, options->mode);
  add_hardware_options(*command, options->hardware);
  add_drives(*command, options->hardware);
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
