#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cli/check_inputs.hpp"
#include "cli/check_report.hpp"
#include "cli/command_description.hpp"
#include "cli/executor_options.hpp"
#include "cli/planning_options.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/io/interrupt.hpp"
#include "core/verdict/both_modes.hpp"
#include "core/verdict/recorded_run.hpp"
#include "core/verdict/timing_exclusion.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/verdict/scenario_check.hpp"
#include "launch/started_nodes.hpp"

namespace lanewise::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRunsOfAlternatives = 3;
constexpr double kPrecisionOfAlternatives = 0.03;

struct CheckOptions {
  std::vector<std::string> scenarios;
  std::string mode = "sim";
  std::string objective;
  std::string effort = kFullEffort;
  std::string library = kBestPlan;
  std::string hw_runs;    // file of hardware runs recorded elsewhere
  std::string runs_file;  // file to record hardware runs in
  std::string nodes = launch::kNodesAuto;
  HardwareOptions hardware;
  std::string budget;  // of --budget; empty: the default
  ReportOptions report;
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
  for (auto const& drive : options.hardware.drives) words.insert(words.end(), {"--drive", drive});
  return words;
}

// None where it is not known or wrong, which the check of the scenario reports.
std::optional<Machine> machine_or_none(Session& session, fs::path const& folder, std::string const& name) {
  try {
    return session.machine_named_in(folder, name);
  } catch (InputError const&) {
    return std::nullopt;
  }
}

// Whether nodes of the cluster can be started here: any process can stand for one. GPUs are taken only where the user
// says that this host has the nodes' GPUs.
bool has_startable_nodes(Machine const& machine, std::string const& where) {
  if (is_soft_cluster(machine)) return true;
  return is_message_cluster(machine) && (where == launch::kNodesHere || machine.all(PciKind::Gpu).empty());
}

// Runs the scenarios of such clusters on nodes started for them, all scenarios of a cluster together.
Recorded run_started_clusters(CheckInputs const& given, Session& session, CheckOptions const& options) {
  std::map<std::string, launch::NodeScenarios> clusters;  // by name, or by file where a scenario names one beside it
  for (std::size_t i = 0; i < given.scenarios.size(); ++i)
    for (auto const& name : given.scenarios[i].machines) {
      auto const folder = given.files[i].parent_path();
      auto machine = machine_or_none(session, folder, name);
      if (!machine || !has_startable_nodes(*machine, options.nodes)) continue;
      auto file = session.catalogue.added_file(name);
      if (fs::is_regular_file(folder / name)) file = folder / name;
      auto const key = file ? fs::absolute(*file).string() : name;
      auto& scenarios = clusters.try_emplace(key, launch::NodeScenarios{key, std::move(*machine), {}}).first->second;
      scenarios.files.push_back(given.files[i]);
    }
  Recorded recorded{{}, std::set<std::string>{}};
  for (auto const& [name, scenarios] : clusters) {
    auto runs = launch::run_on_started_nodes(scenarios, options.nodes, node_arguments(session, options));
    recorded.machines->insert(scenarios.machine.name);
    std::move(runs.begin(), runs.end(), std::back_inserter(recorded.runs));
  }
  return recorded;
}

// The runs of --hw-trace, or of nodes that are started here; none when this process is a node itself.
Recorded recorded_runs(CheckInputs const& given, Session& session, CheckOptions const& options) {
  if (!options.hw_runs.empty()) return {read_recorded_runs(SourceText::load(options.hw_runs)), std::nullopt};
  if (options.hardware.nodes->processes() > 1) return {{}, std::set<std::string>{}};
  return run_started_clusters(given, session, options);
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
Checked check_in(std::string const& mode, CheckInputs const& given, Session& session, CheckOptions const& options) {
  std::optional<Objective> objective;
  if (!options.objective.empty()) objective = argument(parse_objective(options.objective));
  auto const effort = argument(parse_effort(options.effort));
  auto const library = library_of(options.library);
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
        },
        uses_hardware(options.mode) ? Detail::EveryStep : Detail::Folded,
        library};
    if (mode == "hw")
      context.recorded = [&](std::string const& name, std::string const& variant,
                             Plan const& plan) -> std::optional<CompletedRun> {
        if (!recorded.has(plan)) return std::nullopt;
        auto const& run = recorded_run(recorded.runs, name, variant, plan);
        return CompletedRun{run.trace, run.regrets, run.real_time};
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

void warn_of_empty(std::vector<Scenario> const& scenarios, ReportOptions const& report) {
  for (auto const& scenario : scenarios)
    if (scenario.expectations.empty())
      report.warn(
          scenario.pos,
          fmt::format("scenario '{}' expects nothing: whatever it does, it passes; add 'expect' (--strict fails "
                      "it)",
                      scenario.name));
}

// Moves some verdicts behind others.
void append(std::vector<ScenarioVerdict>& verdicts, std::vector<ScenarioVerdict> more) {
  std::move(more.begin(), more.end(), std::back_inserter(verdicts));
}

void run_checks(Session& session, CheckOptions const& options, CheckInputs given) {
  auto const count = given.scenarios.size();
  CheckReport report{std::move(given.unreadable)};
  Checked predicted;
  if (options.mode != "hw")
    predicted = check_in(options.mode == "both" ? "sim" : options.mode, given, session, options);
  if (predicted.stopped) return options.report.stop(session, predicted.verdicts, count, options.runs_file);
  if (uses_hardware(options.mode)) {
    auto measured = check_in("hw", given, session, options);
    if (measured.stopped) return options.report.stop(session, measured.verdicts, count, options.runs_file);
    if (!options.runs_file.empty()) write_file(options.runs_file, recorded_runs_json(measured.verdicts).dump(1) + "\n");
    if (options.mode == "both") report.both = both_modes(predicted.verdicts, measured.verdicts);
    append(predicted.verdicts, std::move(measured.verdicts));
  }
  append(report.verdicts, std::move(predicted.verdicts));
  options.report.report(session, std::move(report));
}

void run(Session& session, CheckOptions& options) {
  if (uses_hardware(options.mode) && options.hw_runs.empty() && !options.hardware.join()) return;
  if (!uses_hardware(options.mode) && !(options.hw_runs.empty() && options.runs_file.empty() && options.budget.empty()))
    throw InputError("--hw-trace, --record and --budget are for --mode hw and both");
  options.report.prepare();
  auto given = read_check_inputs(options.scenarios, session, options.mode == "both" ? "sim" : options.mode);
  if (!session.machine_name.empty()) {
    (void)session.machine();  // what is wrong with it is no error of each scenario
    for (auto& scenario : given.scenarios) {
      scenario.machines = {session.machine_name};
      scenario.machine_positions.clear();
    }
  }
  InterruptScope const interruptible;
  warn_of_empty(given.scenarios, options.report);
  run_checks(session, options, std::move(given));
}

}  // namespace

void add_check(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("check",
                         "Run scenarios and check their expectations; the exit code is 1 when one fails, and 2 when a "
                         "scenario or a machine cannot be read");
  auto options = std::make_shared<CheckOptions>();
  command
      ->add_option(
          "scenarios", options->scenarios,
          "Scenario files, folders of them, or names of bundled ones; machine and cluster files among them are "
          "known by their names")
      ->required()
      ->type_name("SCENARIO");
  session.add_machine(*command, "--on", false);
  session.add_html(*command);
  add_mode(*command, options->mode);
  command
      ->add_option("--objective", options->objective,
                   "Plan for each, makespan or slowdown, instead of what the scenarios say")
      ->check(one_of(objective_names()));
  add_effort(*command, options->effort);
  add_library(*command, options->library);
  command
      ->add_option("--hw-trace", options->hw_runs,
                   "Take the hardware runs from this file, which --record wrote elsewhere")
      ->type_name("FILE");
  command->add_option("--record", options->runs_file, "Also write the hardware runs to this file")->type_name("FILE");
  command
      ->add_option(
          "--nodes", options->nodes,
          "Where nodes run that are started for the check: of clusters of Soft-RoCE, and of those whose messages go by "
          "MPI. here: processes of this host, with its RDMA devices and GPUs; emulator: virtual machines; auto: here "
          "if that works")
      ->check(CLI::IsMember({launch::kNodesAuto, launch::kNodesHere, launch::kNodesEmulated}))
      ->type_name("WHERE")
      ->capture_default_str();
  add_hardware_options(*command, options->hardware);
  add_drives(*command, options->hardware);
  command
      ->add_option("--budget", options->budget,
                   "Run alternatives on hardware in turn with the plan for at most this long per run; default: three "
                   "times as often as --repeat, then until what is open is known to 3 %, for at most 20 s")
      ->type_name("TIME");
  command->add_flag("--strict", options->strict, "Fail scenarios that expect nothing, too");
  options->report.add_to(*command);
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
