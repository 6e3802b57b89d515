#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/executors.hpp"
#include "cli/session.hpp"
#include "core/interop/junit.hpp"
#include "core/io/interrupt.hpp"
#include "core/io/json.hpp"
#include "core/verdict/both_modes.hpp"
#include "core/verdict/recorded_run.hpp"
#include "core/verdict/scenario_check.hpp"

namespace lanewise::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> scenarios;
  std::string mode = "sim";
  std::string junit;
  std::string objective;
  std::string hw_runs;    // runs on hardware recorded elsewhere
  std::string runs_file;  // where to record those made here
  OnHardware hardware;
};

std::vector<Scenario> read_all(std::vector<fs::path> const& files) {
  std::vector<Scenario> scenarios;
  std::string problems;
  for (auto const& file : files) {
    try {
      scenarios.push_back(read_scenario(SourceText::load(file)));
    } catch (InputError const& error) {
      problems += (problems.empty() ? "" : "\n") + std::string(error.what());
    }
  }
  if (!problems.empty()) throw InputError(problems);
  return scenarios;
}

// Scenarios with the folders that their machines may be beside.
struct Given {
  std::vector<fs::path> files;
  std::vector<Scenario> scenarios;
};

// All scenarios in one mode, "sim" or "hw".
std::vector<ScenarioVerdict> check_in(std::string const& mode, Given const& given, Session& session,
                                      Options const& options) {
  std::optional<Objective> objective;
  if (!options.objective.empty()) objective = argument(parse_objective(options.objective));
  std::vector<RecordedRun> recorded;
  bool const from_file = mode == "hw" && !options.hw_runs.empty();
  if (from_file) recorded = recorded_runs_from_json(parse_json(SourceText::load(options.hw_runs), "runs/1"));
  std::vector<ScenarioVerdict> verdicts;
  for (std::size_t i = 0; i < given.scenarios.size(); ++i) {
    CheckWorld world{
        [&](std::string const& name) { return session.machine_named_in(given.files[i].parent_path(), name); },
        [&](Model const& model) { return make_executor(mode, model, options.hardware); },
        session.catalogue,
        mode,
        objective,
        mode == "hw",
        {}};
    if (from_file)
      world.recorded = [&](std::string const& scenario, std::string const& variant, Plan const& plan) {
        auto const& run = recorded_run(recorded, scenario, variant, plan);
        return RanPlan{run.trace, run.regrets};
      };
    verdicts.push_back(check_scenario(given.scenarios[i], world));
  }
  return verdicts;
}

void put(Session const& session, std::vector<ScenarioVerdict> const& verdicts, std::vector<BothModes> const* both) {
  if (session.json) {
    auto json = verdict_json(verdicts);
    if (both != nullptr) json["both_modes"] = both_modes_json(*both);
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("{}", verdict_text(verdicts));
  if (both != nullptr) fmt::print("\n{}", both_modes_text(*both));
}

void run(Session& session, Options& options) {
  if (options.mode != "sim" && options.hw_runs.empty() && !options.hardware.join()) return;
  Given given{yaml_files(options.scenarios), {}};
  given.scenarios = read_all(given.files);
  if (!session.machine_name.empty())
    for (auto& scenario : given.scenarios) scenario.machines = {session.machine_name};
  bool const on_hardware = options.mode != "sim";
  if (!on_hardware && !(options.hw_runs.empty() && options.runs_file.empty()))
    throw InputError("--hw-trace and --record are for --mode hw and both");
  std::optional<InterruptScope> interruptible;
  if (on_hardware) interruptible.emplace();
  std::vector<ScenarioVerdict> verdicts;
  if (options.mode != "hw") verdicts = check_in("sim", given, session, options);
  std::vector<BothModes> both;
  if (on_hardware) {
    auto measured = check_in("hw", given, session, options);
    if (!options.runs_file.empty()) write_file(options.runs_file, recorded_runs_json(measured).dump(1) + "\n");
    both = both_modes(verdicts, measured);
    verdicts.insert(verdicts.end(), measured.begin(), measured.end());
  }
  if (!options.junit.empty()) write_file(options.junit, junit_xml(verdicts));
  put(session, verdicts, options.mode == "both" ? &both : nullptr);
  bool const passed =
      std::all_of(verdicts.begin(), verdicts.end(), [](auto const& verdict) { return verdict.passed(); });
  session.exit_code = passed ? ExitCode::Fine : ExitCode::ExpectationFailed;
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("check", "run scenarios and hold them to their expectations");
  auto options = std::make_shared<Options>();
  command->add_option("scenarios", options->scenarios, "scenario files, or folders of them")->required();
  session.add_machine(*command, "--on", false);
  command->add_option("--mode", options->mode, "sim, hw or both")
      ->check(CLI::IsMember({"sim", "hw", "both"}))
      ->capture_default_str();
  command->add_option("--objective", options->objective,
                      "each, makespan or slowdown, instead of what the scenarios say");
  command->add_option("--hw-trace", options->hw_runs, "take the runs on hardware from this file (--record, elsewhere)")
      ->type_name("FILE");
  command->add_option("--record", options->runs_file, "also write the runs on hardware to this file")
      ->type_name("FILE");
  add_hardware_options(*command, options->hardware);
  command->add_option("--junit", options->junit, "also write JUnit XML to this file");
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
