#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/executors.hpp"
#include "cli/session.hpp"
#include "core/interop/junit.hpp"
#include "core/verdict/scenario_check.hpp"

namespace lanewise::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> scenarios;
  std::string mode = "sim";
  std::string junit;
  std::string objective;
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

void run(Session& session, Options const& options) {
  auto const files = yaml_files(options.scenarios);
  auto scenarios = read_all(files);
  std::vector<ScenarioVerdict> verdicts;
  std::optional<Objective> objective;
  if (!options.objective.empty()) objective = argument(parse_objective(options.objective));
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    if (!session.machine_name.empty()) scenarios[i].machines = {session.machine_name};
    CheckWorld const world{
        [&](std::string const& name) { return session.machine_named_in(files[i].parent_path(), name); },
        [&](Model const& model) { return make_executor(options.mode, model); }, session.catalogue, options.mode,
        objective};
    verdicts.push_back(check_scenario(scenarios[i], world));
  }
  if (!options.junit.empty()) write_file(options.junit, junit_xml(verdicts));
  if (session.json)
    fmt::print("{}\n", verdict_json(verdicts).dump(2));
  else
    fmt::print("{}", verdict_text(verdicts));
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
  command->add_option("--junit", options->junit, "also write JUnit XML to this file");
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
