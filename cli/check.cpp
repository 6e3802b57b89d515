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
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/interop/exports/junit.hpp"
#include "core/io/error.hpp"
#include "core/io/interrupt.hpp"
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

constexpr std::size_t kRunsOfAlternatives = 3;
constexpr double kPrecisionOfAlternatives = 0.03;

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
  std::string budget;  // of --budget; empty: the default
  bool strict = false;

  // With a budget of its own a run takes as many rounds as fit, at most kMaxRounds. Otherwise alternatives take
  // three times the runs of the plan itself, and more only until what is not settled is known to 3 %.
  [[nodiscard]] Alternation alternation() const {
    Alternation alternation;
    auto const runs = hardware.repetition.warm_up + hardware.repetition.repeat;
    alternation.max_rounds = kRunsOfAlternatives * static_cast<std::size_t>(runs);
    if (budget.empty()) {
      alternation.precision = kPrecisionOfAlternatives;
    } else {
      alternation.budget = argument(parse_seconds(budget));
      alternation.max_rounds = kMaxRounds;
    }
    return alternation;
  }
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
  if (!options.budget.empty()) words.insert(words.end(), {"--budget", options.budget});
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
  if (!options.hw_runs.empty()) return {read_recorded_runs(SourceText::load(options.hw_runs)), std::nullopt};
  if (options.hardware.nodes->processes() > 1) return {{}, std::set<std::string>{}};
  return run_soft_clusters(given, session, options);
}

// The scenarios that were checked; fewer than all when the user stopped the program.
struct Checked {
  std::vector<ScenarioVerdict> verdicts;
  bool stopped = false;
};

// Fails an expectation for every scenario that has none (--strict).
void expect_something(Scenario const& scenario, ScenarioVerdict& verdict) {
  ExpectationResult result;
  result.what = "something (--strict)";
  result.found = "no 'expect'";
  result.pos = scenario.pos;
  verdict.results.push_back(std::move(result));
}

std::size_t run_count(std::vector<Scenario> const& scenarios) {
  std::size_t count = 0;
  for (auto const& scenario : scenarios) count += scenario.machines.size() * scenario.variants.size();
  return count;
}

// Checks all scenarios in one mode: "sim", "estimate" or "hw".
Checked check_in(std::string const& mode, LoadedScenarios const& given, Session& session, CheckOptions const& options) {
  std::optional<Objective> objective;
  if (!options.objective.empty()) objective = argument(parse_objective(options.objective));
  auto const effort = argument(parse_effort(options.effort));
  Recorded recorded;
  if (mode == "hw") recorded = recorded_runs(given, session, options);
  Progress progress("runs", run_count(given.scenarios));
  Checked checked;
  for (std::size_t i = 0; i < given.scenarios.size(); ++i) {
    auto const& scenario = given.scenarios[i];
    CheckContext context{
        [&](std::string const& name) { return session.machine_named_in(given.files[i].parent_path(), name); },
        [&](Model const& model) { return make_executor(mode, model, options.hardware); },
        session.catalogue,
        mode,
        objective,
        effort,
        mode == "hw",
        options.alternation(),
        {},
        [&](std::string const& machine, std::string const& variant) {
          throw_if_interrupted();
          progress.doing(fmt::format("{} on {}{}{}", scenario.name, machine, variant.empty() ? "" : ", ", variant));
        }};
    if (mode == "hw")
      context.recorded = [&](std::string const& name, std::string const& variant,
                             Plan const& plan) -> std::optional<CompletedRun> {
        if (!recorded.has(plan)) return std::nullopt;
        auto const& run = recorded_run(recorded.runs, name, variant, plan);
        return CompletedRun{run.trace, run.regrets};
      };
    try {
      checked.verdicts.push_back(check_scenario(scenario, context));
    } catch (Interrupted const&) {
      checked.stopped = true;
      return checked;
    }
    if (options.strict && scenario.expectations.empty()) expect_something(scenario, checked.verdicts.back());
    progress.done(scenario.machines.size() * scenario.variants.size());
  }
  return checked;
}

// `of`: how many scenarios there were, when the user stopped the program before the last.
void put(Session const& session, std::vector<ScenarioVerdict> const& verdicts, std::vector<BothModes> const* both,
         std::optional<std::size_t> of = {}) {
  if (session.json) {
    auto json = verdict_json(verdicts);
    if (of) json["stopped"] = {{"checked", verdicts.size()}, {"of", *of}};
    if (both != nullptr) json["both_modes"] = both_modes_json(*both);
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("{}", verdict_text(verdicts));
  if (both != nullptr) fmt::print("\n{}", both_modes_text(*both));
}

// The user stopped the program: prints what was checked. Files are written whole or not at all.
void stop(Session& session, CheckOptions const& options, std::vector<ScenarioVerdict> const& verdicts,
          std::size_t count) {
  put(session, verdicts, nullptr, count);
  std::fflush(stdout);
  std::string unwritten;
  for (auto const& file : {options.junit, options.runs_file})
    if (!file.empty()) unwritten += fmt::format("; {} was not written", file);
  fmt::print(stderr, "stopped: {} of {} scenarios were checked{}\n", verdicts.size(), count, unwritten);
  session.exit_code = ExitCode::Interrupted;
}

void warn_of_empty(std::vector<Scenario> const& scenarios) {
  for (auto const& scenario : scenarios)
    if (scenario.expectations.empty())
      fmt::print(stderr,
                 "{}:{}: warning: scenario '{}' expects nothing: whatever it does, it passes; add 'expect' "
                 "(--strict fails it)\n",
                 scenario.pos.file, scenario.pos.line, scenario.name);
}

void run(Session& session, CheckOptions& options) {
  if (uses_hardware(options.mode) && options.hw_runs.empty() && !options.hardware.join()) return;
  LoadedScenarios given{yaml_files(options.scenarios), {}};
  given.scenarios = read_all(given.files);
  if (!session.machine_name.empty())
    for (auto& scenario : given.scenarios) scenario.machines = {session.machine_name};
  bool const on_hardware = uses_hardware(options.mode);
  if (!on_hardware && !(options.hw_runs.empty() && options.runs_file.empty() && options.budget.empty()))
    throw InputError("--hw-trace, --record and --budget are for --mode hw and both");
  InterruptScope const interruptible;
  warn_of_empty(given.scenarios);
  Checked predicted;
  if (options.mode != "hw")
    predicted = check_in(options.mode == "both" ? "sim" : options.mode, given, session, options);
  if (predicted.stopped) return stop(session, options, predicted.verdicts, given.scenarios.size());
  auto& verdicts = predicted.verdicts;
  std::vector<BothModes> both;
  if (on_hardware) {
    auto const measured = check_in("hw", given, session, options);
    if (measured.stopped) return stop(session, options, measured.verdicts, given.scenarios.size());
    if (!options.runs_file.empty()) write_file(options.runs_file, recorded_runs_json(measured.verdicts).dump(1) + "\n");
    both = both_modes(verdicts, measured.verdicts);
    verdicts.insert(verdicts.end(), measured.verdicts.begin(), measured.verdicts.end());
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
  add_mode(*command, options->mode);
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
  command
      ->add_option("--budget", options->budget,
                   "Run alternatives on hardware in turn with the plan for at most this long per run; default: three "
                   "times as often as --repeat, then until what is open is known to 3 %, for at most 20 s")
      ->type_name("TIME");
  command->add_flag("--strict", options->strict, "Fail scenarios that expect nothing, too");
  command->add_option("--junit", options->junit, "Also write JUnit XML to this file");
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
