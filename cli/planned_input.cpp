#include "cli/planned_input.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/io/json.hpp"
#include "core/scenario/scenario.hpp"

namespace lanewise::cli {
namespace {

// The variant's settings, or none when the scenario has no variants and none was asked for.
std::vector<Setting> settings_of(Scenario const& scenario, std::string const& wanted) {
  auto settings = scenario.settings;
  if (wanted.empty() && scenario.variants.size() > 1) {
    std::string names;
    for (auto const& variant : scenario.variants) names += (names.empty() ? "" : ", ") + variant.name;
    throw InputError(fmt::format("scenario '{}' has variants; choose one with --variant: {}", scenario.name, names));
  }
  for (auto const& variant : scenario.variants) {
    if (!wanted.empty() && variant.name != wanted) continue;
    settings.insert(settings.end(), variant.settings.begin(), variant.settings.end());
    return settings;
  }
  throw InputError(fmt::format("scenario '{}' has no variant '{}'", scenario.name, wanted));
}

std::string machine_name_of(Session const& session, Scenario const& scenario) {
  if (!session.machine_name.empty()) return session.machine_name;
  if (scenario.machines.size() == 1) return scenario.machines.front();
  throw InputError(fmt::format("scenario '{}' is for several machines; choose one with --on", scenario.name));
}

bool is_json(SourceText const& source) {
  auto const first = source.text().find_first_not_of(" \t\r\n");
  return first != std::string::npos && source.text()[first] == '{';
}

// What the command line says, else the scenario.
Aim aim_of(PlannedInput const& input, Scenario const& scenario) {
  return {input.objective.empty() ? scenario.objective : argument(parse_objective(input.objective)),
          argument(parse_effort(input.effort))};
}

}  // namespace

Prepared prepare(Session& session, PlannedInput const& input) {
  auto const source = SourceText::load(input.file);
  if (is_json(source)) {
    auto const json = parse_json(source, "plan/1");
    if (session.machine_name.empty()) session.machine_name = json.value("machine", std::string());
    Model model(session.machine());
    auto plan = plan_from_json(json, model.machine());
    return {std::move(model), plan, [plan](Model const&) { return plan; }};
  }
  auto scenario = read_scenario(source);
  auto machine =
      session.machine_named_in(std::filesystem::path(input.file).parent_path(), machine_name_of(session, scenario));
  for (auto const& setting : settings_of(scenario, input.variant)) apply_setting(machine, setting, session.catalogue);
  session.apply_settings(machine);  // the command line has the last word
  Model model(std::move(machine));
  auto const aim = aim_of(input, scenario);
  auto plan = plan_of(scenario, model, aim);
  return {std::move(model), std::move(plan),
          [scenario = std::move(scenario), aim](Model const& other) { return plan_of(scenario, other, aim); }};
}

void add_effort(CLI::App& command, std::string& effort) {
  command
      .add_option("--effort", effort,
                  "full, or quick: sets of transfers planned in some milliseconds, for plans that take some percent "
                  "longer")
      ->type_name("EFFORT")
      ->capture_default_str();
}

void add_planning(CLI::App& command, PlannedInput& input) {
  command.add_option("--variant", input.variant, "the scenario's variant to take");
  command.add_option("--objective", input.objective,
                     "each, makespan or slowdown: what the transfers are planned for; else what the scenario says");
  add_effort(command, input.effort);
}

}  // namespace lanewise::cli
