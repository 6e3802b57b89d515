// plan, run and compare: a scenario as a plan, a plan as a trace, two traces against each other.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/executors.hpp"
#include "cli/planned_input.hpp"
#include "cli/session.hpp"
#include "core/estimate/estimate.hpp"
#include "core/io/interrupt.hpp"
#include "core/io/json.hpp"
#include "core/planner/bounds/lower_bound.hpp"
#include "core/scenario/scenario.hpp"
#include "core/verdict/comparison.hpp"
#include "core/verdict/run_ranges.hpp"
#include "core/view/optimality.hpp"
#include "core/view/plan_text.hpp"

namespace lanewise::cli {
namespace {

struct RunOptions {
  PlannedInput input;
  std::string first, second;  // traces
  std::string mode = "sim";
  std::string output;
  OnHardware hardware;
};

// JSON to a file, JSON to stdout, or text.
void put(Session const& session, RunOptions const& options, nlohmann::ordered_json const& json,
         std::string const& text) {
  if (!options.output.empty()) write_file(options.output, json.dump(2) + "\n");
  if (session.json)
    fmt::print("{}\n", json.dump(2));
  else
    fmt::print("{}", text);
}

void plan(Session& session, RunOptions const& options) {
  auto prepared = prepare(session, options.input);
  auto const& model = prepared.model;
  auto& plan = prepared.plan;
  add_ranges(plan, model);
  auto const bound = lower_bound(plan, model);
  auto const makespan = through_json(estimate(model, plan.steps).makespan);
  auto json = to_json(plan, model.machine());
  add_optimality(json, makespan, bound);
  add_collective(json, plan, makespan);
  put(session, options, json,
      plan_text(plan, model.machine()) + collective_text(plan, makespan) + optimality_text(makespan, bound) + "\n");
}

// What arrived wrong is an error even if it was fast.
void refuse_wrong_bytes(Session& session, Trace const& trace) {
  for (auto const& step : trace.steps)
    if (step.verified && !*step.verified) {
      fmt::print(stderr, "transfer '{}' arrived wrong: {}\n", step.transfer, step.mismatch);
      session.exit_code = ExitCode::ExpectationFailed;
    }
}

void run_both(Session& session, RunOptions const& options, Model const& model, Plan const& plan) {
  auto const predicted = make_sim_executor(model)->run(plan);
  auto const measured = make_executor("hw", model, options.hardware)->run(plan);
  refuse_wrong_bytes(session, measured);
  auto const comparison = compare(predicted, measured);
  put(session, options, comparison_json(comparison), comparison_text(comparison));
}

void run(Session& session, RunOptions& options) {
  if (options.mode != "sim" && !options.hardware.join()) return;
  auto const prepared = prepare(session, options.input);
  auto const& model = prepared.model;
  auto const& plan = prepared.plan;
  std::optional<InterruptScope> interruptible;
  if (options.mode != "sim") interruptible.emplace();
  if (options.mode == "both") return run_both(session, options, model, plan);
  auto trace = make_executor(options.mode, model, options.hardware)->run(plan);
  // The ranges of a collective would take hundreds of runs of a long plan.
  if (options.mode == "sim" && !plan.collective && plan.collectives.empty())
    add_ranges(trace, plan, model, make_sim_executor);
  refuse_wrong_bytes(session, trace);
  auto const bound = lower_bound(plan, model);
  auto json = to_json(trace);
  add_optimality(json, trace.makespan, bound);
  add_collective(json, plan, trace.makespan);
  put(session, options, json,
      trace_text(trace, plan, model.machine()) + "\n" + collective_text(plan, trace.makespan) +
          optimality_text(trace.makespan, bound) + "\n");
}

void compare_traces(Session& session, RunOptions const& options) {
  auto const read = [](std::string const& file) {
    return trace_from_json(parse_json(SourceText::load(file), "trace/1"));
  };
  auto const comparison = compare(read(options.first), read(options.second));
  if (session.json)
    fmt::print("{}\n", comparison_json(comparison).dump(2));
  else
    fmt::print("{}", comparison_text(comparison));
}

std::shared_ptr<RunOptions> add_input(CLI::App& command, Session& session, std::string const& what) {
  auto options = std::make_shared<RunOptions>();
  command.add_option("input", options->input.file, what)->required();
  session.add_machine(command, "--on", false);
  add_planning(command, options->input);
  command.add_option("-o,--output", options->output, "also write JSON to this file");
  return options;
}

}  // namespace

void add_plan(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("plan", "plan a scenario and show every decision");
  auto options = add_input(*command, session, "a scenario file");
  command->callback([&session, options] { plan(session, *options); });
}

void add_run(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("run", "run a scenario or a plan, and show when each step ran");
  auto options = add_input(*command, session, "a scenario file, or a plan made by `lanewise plan -o`");
  command->add_option("--mode", options->mode, "sim, hw, or both against each other")
      ->check(CLI::IsMember({"sim", "hw", "both"}))
      ->capture_default_str();
  add_hardware_options(*command, options->hardware);
  command->callback([&session, options] { run(session, *options); });
}

void add_compare(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("compare", "hold two traces of one plan against each other, step by step");
  auto options = std::make_shared<RunOptions>();
  command->add_option("first", options->first, "a trace made by `lanewise run -o` (predicted)")->required();
  command->add_option("second", options->second, "another (measured)")->required();
  session.add_json(*command);
  command->callback([&session, options] { compare_traces(session, *options); });
}

}  // namespace lanewise::cli
