#pragma once
// The options of commands that take a scenario or a plan.
#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/session.hpp"
#include "lanewise/scenario/prepared_plan.hpp"

namespace lanewise::cli {

inline constexpr char kFullEffort[] = "full";
inline constexpr char kBestPlan[] = "best";

struct PlanningOptions {
  std::string file;       // a scenario, or a plan made by `lanewise plan -o`
  std::string variant;    // empty: the only one
  std::string objective;  // empty: the scenario's
  std::string effort = kFullEffort;
  std::string library = kBestPlan;
  bool unfolded = false;
};

// Reads the file and plans it on the machine of the command line, or on the one it names.
PreparedPlan prepare(Session& session, PlanningOptions const& options);
// Adds --effort.
void add_effort(CLI::App& command, std::string& effort);
// Adds --library.
void add_library(CLI::App& command, std::string& library);
// What it says; nullopt: as well as possible.
std::optional<Library> library_of(std::string const& option);
// Adds --variant, --objective, --effort, --library and --unfolded.
void add_planning(CLI::App& command, PlanningOptions& options);

}  // namespace lanewise::cli
