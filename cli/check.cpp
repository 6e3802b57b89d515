#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cli/executor_options.hpp"
#include "cli/planning_options.hpp"
#include "cli/session.hpp"
#include "core/interop/exports/junit.hpp"
#include "core/io/interrupt.hpp"
#include "core/io/json.hpp"
#include "core/verdict/both_modes.hpp"
#include "core/verdict/recorded_run.hpp"
#include "core/verdict/scenario_check.hpp"
#include "core/verdict/soft_nic.hpp"
#include "core/view/both_modes_text.hpp"
#include "core/view/verdict_text.hpp"
#include "launch/soft_nodes.hpp"

namespace lanewise::cli {
namespace {

namespace fs = std::filesystem;

struct CheckOptions {
  std::vector<std::string> scenarios;
  std::string mode = "sim";
  std::string junit;
  std::string objective;
  std::string effort = kFullEffort;
  std::string hw_runs;    // file of hardware runs recorded elsewhere
  std::string runs_file;  // file to record hardware runs in
  std::string nodes = launch::kNodesAuto;
  HardwareOptions hardware;
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

// Scenarios with their files, which machine files may lie beside.
struct LoadedScenarios {
  std::vector<fs::path> files;
  std::vector<Scenario> scenarios;
};

// Hardware runs that were made before the verdict.
struct Recorded {
  std::vector<RecordedRun> runs;
  std::optional<std::set<std::string>> machines;  // the runs are of these only; absent: of all
  [[nodiscard]] bool has(Plan const& plan) const { return !machines || machines->contains(plan.machine); }
};

// Arguments for the processes on nodes, besides scenarios and cluster.
std::vector<std::string> node_arguments(Session const& session, CheckOptions const& options) {
  std::vector<std::string> words{"--repeat", fmt::format("{}", options.hardware.repetition.repeat), "--completion",
                                 options.hardware.completion};
  if (!options.objective.empty()) words.insert(words.end(), {"--objective", options.objective});
  words.insert(words.end(), {"--effort", options.effort});
  if (!session.calibration_file.empty()) words.insert(words.end(), {"--calibration", session.calibration_file});
  for (auto const& setting : session.settings) words.insert(words.end(), {"--set", setting});
  return words;
}

// Runs the scenarios of Soft-RoCE clusters on nodes started for them, all scenarios of a cluster together.
Recorded run_soft_clusters(LoadedScenarios const& given, Session& session, CheckOptions const& options) {
  std::map<std::string, launch::NodeScenarios> clusters;  // by name, or by file where a scenario names one beside it
  for (std::size_t i = 0; i < given.scenarios.size(); ++i)
    for (auto const& name : given.scenarios[i].machines) {
      auto const folder = given.files[i].parent_path();
      auto machine = session.machine_named_in(folder, name);
      if (!is_soft_cluster(machine)) continue;
      auto const beside = folder / name;
      auto const key = fs::is_regular_file(beside) ? fs::absolute(beside).string() : name;
      auto& scenarios = clusters.try_emplace(key, launch::NodeScenarios{key, std::move(machine), {}}).first->second;
      scenarios.files.push_back(given.files[i]);
    }
  Recorded recorded{{}, std::set<std::string>{}};
  for (auto const& [name, scenarios] : clusters) {
    auto runs = launch::run_on_soft_nodes(scenarios, options.nodes, node_arguments(session, options));
    recorded.machines->insert(scenarios.machine.name);
    std::move(runs.begin(), runs.end(), std::back_inserter(recorded.runs));
  }
  return recorded;
}

// The runs of --hw-trace, or of nodes that are started here; none when this process is a node itself.
Recorded recorded_runs(LoadedScenarios const& given, Session& session, CheckOptions const& options) {
  if (!options.hw_runs.empty())
    return {recorded_runs_from_json(parse_json(SourceText::load(options.hw_runs), "runs/1")), std::nullopt};
  if (options.hardware.nodes->processes() > 1) return {{}, std::set<std::string>{}};
  return run_soft_clusters(given, session, options);
}

// Checks all scenarios in one mode, "sim" or "hw".
std::vector<ScenarioVerdict> check_in(std::string const& mode, LoadedScenarios const& given, Session& session,
                                      CheckOptions const& options) {
  std::optional<Objective> objective;
  if (!options.objective.empty()) objective = argument(parse_objective(options.objective));
  auto const effort = argument(parse_effort(options.effort));
  Recorded recorded;
  if (mode == "hw") recorded = recorded_runs(given, session, options);
  std::vector<ScenarioVerdict> verdicts;
  for (std::size_t i = 0; i < given.scenarios.size(); ++i) {
    CheckContext context{
        [&](std::string const& name) { return session.machine_named_in(given.files[i].parent_path(), name); },
        [&](Model const& model) { return make_executor(mode, model, options.hardware); },
        session.catalogue,
        mode,
        objective,
        effort,
        mode == "hw",
        {}};
    if (mode == "hw")
      context.recorded = [&](std::string const& scenario, std::string const& variant,
                             Plan const& plan) -> std::optional<CompletedRun> {
        if (!recorded.has(plan)) return std::nullopt;
        auto const& run = recorded_run(recorded.runs, scenario, variant, plan);
        return CompletedRun{run.trace, run.regrets};
      };
    verdicts.push_back(check_scenario(given.scenarios[i], context));
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

void run(Session& session, CheckOptions& options) {
  if (options.mode != "sim" && options.hw_runs.empty() && !options.hardware.join()) return;
  LoadedScenarios given{yaml_files(options.scenarios), {}};
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
  auto* command =
      app.add_subcommand("check", "Run scenarios and check their expectations; the exit code is 1 when one fails");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("scenarios", options->scenarios, "Scenario files, or folders of them")->required();
  session.add_machine(*command, "--on", false);
  command->add_option("--mode", options->mode, "sim: simulate; hw: run on hardware; both: compare the two")
      ->check(CLI::IsMember({"sim", "hw", "both"}))
      ->capture_default_str();
  command->add_option("--objective", options->objective,
                      "Plan for each, makespan or slowdown, instead of what the scenarios say");
  add_effort(*command, options->effort);
  command
      ->add_option("--hw-trace", options->hw_runs,
                   "Take the hardware runs from this file, which --record wrote elsewhere")
      ->type_name("FILE");
  command->add_option("--record", options->runs_file, "Also write the hardware runs to this file")->type_name("FILE");
  command
      ->add_option(
          "--nodes", options->nodes,
          "Where nodes of Soft-RoCE clusters run. here: on this host's RDMA devices; emulator: in virtual machines; "
          "auto: here if that works")
      ->check(CLI::IsMember({launch::kNodesAuto, launch::kNodesHere, launch::kNodesEmulated}))
      ->type_name("WHERE")
      ->capture_default_str();
  add_hardware_options(*command, options->hardware);
  command->add_option("--junit", options->junit, "Also write JUnit XML to this file");
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
