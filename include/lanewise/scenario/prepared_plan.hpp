#pragma once
// A scenario or plan file on a machine: what `plan`, `run` and `why` begin with.
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "lanewise/machine/catalogue.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/planner/aim.hpp"
#include "lanewise/scenario/scenario.hpp"

namespace lanewise {

struct PlanningRequest {
  std::string file;                    // a scenario (see scenario_file), or a plan made by `lanewise plan -o`
  std::string machine;                 // empty: the one the file names
  std::string variant;                 // of the scenario; empty: its only one
  std::optional<Objective> objective;  // absent: the scenario's
  Effort effort = Effort::Full;
  Detail detail = Detail::Folded;
  std::optional<Library> library;  // absent: the best plan
};

struct PreparedPlan {
  Model model;
  Plan plan;
  std::optional<Plan> best;                  // the best plan, where `plan` is what a library does
  std::function<Plan(Model const&)> replan;  // the same work on another model; a plan file's plan stays as it is
};

// Applies a scenario's settings, then those of one of its variants; no name: its only one. Throws InputError for a
// variant that is not there or not clear, and for a setting that does not fit the machine.
void apply_variant(Machine& machine, Scenario const& scenario, std::string const& variant, Catalogue& catalogue);

// Finds a machine by its name or file; a file is first looked for in `folder`. An empty folder: by name only.
using MachineFinder = std::function<Machine(std::filesystem::path const& folder, std::string const& name)>;

// Reads the file, plans a scenario, and checks that a plan was made for this machine. `override_machine` is applied
// after the scenario's own settings. Throws InputError for a file, machine or variant that is not there or not clear,
// and PlanError when the scenario has no plan.
PreparedPlan prepare_plan(PlanningRequest const& request, Catalogue& catalogue, MachineFinder const& find_machine,
                          std::function<void(Machine&)> const& override_machine);

}  // namespace lanewise
