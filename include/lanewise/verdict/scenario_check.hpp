#pragma once
// Runs a scenario on its machines in all its variants and compares the runs with its expectations.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/machine/catalogue.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"
#include "lanewise/scenario/scenario.hpp"
#include "lanewise/verdict/verdict.hpp"

namespace lanewise {

// A run and its regrets, made here or elsewhere.
struct CompletedRun {
  Trace trace;
  std::vector<Regret> regrets;
  Seconds real_time{0};  // that it took elsewhere
};

// What a check needs from outside: machines by name, and an executor for a model.
struct CheckContext {
  std::function<Machine(std::string const& name)> machine;
  MakeExecutor executor;
  Catalogue& catalogue;
  std::string mode;                         // "sim", "estimate" or "hw", as the verdict states it
  std::optional<Objective> objective = {};  // replaces the scenarios' own
  Effort effort = Effort::Full;
  bool on_hardware = false;  // settings do not change hardware: variants with settings are skipped
  // How alternatives run on hardware; absent: each by itself, once. Where times are not judged they do so anyway.
  InTurn in_turn = {};
  // Replaces the executor where it returns a run. Throws PlanError if there should be a run and is none.
  std::function<std::optional<CompletedRun>(std::string const& scenario, std::string const& variant, Plan const&)>
      recorded = {};
  // Called before each variant on each machine, with what is about to run.
  std::function<void(std::string const& machine, std::string const& variant)> watch = {};
  Detail detail = Detail::Folded;
  std::optional<Library> library = {};  // plan collectives as this library would
};

// A machine that is not known or that the scenario does not fit is an error of the verdict; the other machines are
// checked. A variant without a legal way is a failed run.
ScenarioVerdict check_scenario(Scenario const& scenario, CheckContext const& context);

}  // namespace lanewise
