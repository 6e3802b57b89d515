#include "lanewise/scenario/prepared_plan.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/io/json.hpp"
#include "core/scenario/scenario_planner.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/plan/plan_json.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace lanewise {
namespace {

// The scenario's settings, then those of the variant.
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

std::string const& machine_of(PlanningRequest const& request, Scenario const& scenario) {
  if (!request.machine.empty()) return request.machine;
  if (scenario.machines.size() == 1) return scenario.machines.front();
  throw InputError(fmt::format("scenario '{}' is for several machines; choose one with --on", scenario.name));
}

// The plan of a file; errors name it.
Plan plan_in(SourceText const& source, nlohmann::ordered_json const& json, Machine const& machine) try {
  return plan_from_json(json, machine);
} catch (InputError const& error) {
  throw InputError(fmt::format("{}: {}", source.name(), error.what()));
}

}  // namespace

void apply_variant(Machine& machine, Scenario const& scenario, std::string const& variant, Catalogue& catalogue) {
  for (auto const& setting : settings_of(scenario, variant)) apply_setting(machine, setting, catalogue);
}

PreparedPlan prepare_plan(PlanningRequest const& request, Catalogue& catalogue, MachineFinder const& find_machine,
                          std::function<void(Machine&)> const& override_machine) {
  auto const file = scenario_file(request.file);
  auto const source = SourceText::load(file);
  if (is_json(source)) {
    auto const json = parse_json(source, kPlanSchemas);
    Model model(find_machine({}, request.machine.empty() ? json.value("machine", std::string()) : request.machine));
    auto plan = plan_in(source, json, model.machine());
    return {std::move(model), plan, std::nullopt, [plan](Model const&) { return plan; }};
  }
  auto scenario = read_scenario(source);
  auto machine = find_machine(file.parent_path(), machine_of(request, scenario));
  apply_variant(machine, scenario, request.variant, catalogue);
  override_machine(machine);
  Model model(std::move(machine));
  Aim const aim{request.objective.value_or(scenario.objective), request.effort, request.detail, request.library};
  auto plan = plan_of(scenario, model, aim);
  std::optional<Plan> best;
  if (library_of(scenario, aim)) {
    auto unbound = scenario;
    if (unbound.collective) unbound.collective->library.reset();
    best = plan_of(unbound, model, {aim.objective, aim.effort, aim.detail, std::nullopt});
  }
  return {std::move(model), std::move(plan), std::move(best),
          [scenario = std::move(scenario), aim](Model const& other) { return plan_of(scenario, other, aim); }};
}

}  // namespace lanewise
