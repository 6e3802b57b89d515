#include "cli/planning_options.hpp"
#include "cli/command_description.hpp"

namespace lanewise::cli {

PreparedPlan prepare(Session& session, PlanningOptions const& options) {
  PlanningRequest request{.file = options.file,
                          .machine = session.machine_name,
                          .variant = options.variant,
                          .objective = {},
                          .effort = argument(parse_effort(options.effort)),
                          .detail = options.unfolded ? Detail::EveryStep : Detail::Folded,
                          .library = {}};
  request.library = library_of(options.library);
  if (!options.objective.empty()) request.objective = argument(parse_objective(options.objective));
  return prepare_plan(
      request, session.catalogue,
      [&](std::filesystem::path const& folder, std::string const& name) {
        return session.machine_named_in(folder, name);
      },
      [&](Machine& machine) { session.apply_settings(machine); });
}

void add_effort(CLI::App& command, std::string& effort) {
  command
      .add_option("--effort", effort,
                  "full, or quick: plan sets of transfers in milliseconds; such plans take a few percent longer")
      ->check(one_of({"full", "quick"}))
      ->type_name("EFFORT")
      ->capture_default_str();
}

std::optional<Library> library_of(std::string const& option) {
  return option == kBestPlan ? std::nullopt : std::optional(argument(parse_library(option)));
}

void add_library(CLI::App& command, std::string& library) {
  command
      .add_option(
          "--library", library,
          "Plan a collective as a library would: nccl, nccl-VERSION (2.18 to 2.30), rccl, mpi, oneshot (kernels of "
          "inference engines); best: as well as possible")
      ->type_name("LIBRARY")
      ->capture_default_str();
}

void add_planning(CLI::App& command, PlanningOptions& options) {
  command.add_option("--variant", options.variant, "Take this variant of the scenario");
  command
      .add_option("--objective", options.objective,
                  "Plan for each, makespan or slowdown, instead of what the scenario says")
      ->check(one_of(objective_names()));
  add_effort(command, options.effort);
  add_library(command, options.library);
  command.add_flag("--unfolded", options.unfolded,
                   "Plan every step of a collective by itself, also where many nodes are alike and do the same");
}

}  // namespace lanewise::cli
