#pragma once
// A scenario or a plan given on the command line, and the machine to plan it on.
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/session.hpp"
#include "core/model/model.hpp"
#include "core/plan/plan.hpp"

namespace lanewise::cli {

inline constexpr char kFullEffort[] = "full";

struct PlannedInput {
  std::string file;       // a scenario, or a plan made by `lanewise plan -o`
  std::string variant;    // empty: the only one
  std::string objective;  // empty: the scenario's
  std::string effort = kFullEffort;
};

struct Prepared {
  Model model;
  Plan plan;
  std::function<Plan(Model const&)> again;  // the same on another model; a plan file's plan stays as it is
};

// A plan file with the machine it was made for, or a scenario planned on its machine.
Prepared prepare(Session& session, PlannedInput const& input);
// --effort.
void add_effort(CLI::App& command, std::string& effort);
// --variant, --objective and --effort.
void add_planning(CLI::App& command, PlannedInput& input);

}  // namespace lanewise::cli
