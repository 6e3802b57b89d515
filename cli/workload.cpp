// lanewise workload: the traffic of a language model, and the step that it makes on a machine.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command_description.hpp"
#include "cli/executor_options.hpp"
#include "cli/planning_options.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/io/interrupt.hpp"
#include "core/view/workload_text.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/scenario/prepared_plan.hpp"

namespace lanewise::cli {
namespace {

struct WorkloadOptions {
  std::string file;
  std::string mode = "sim";
  std::string library;  // empty: the workload's own
  bool traffic_only = false;
};

void workload(Session& session, WorkloadOptions const& options) {
  InterruptScope const interruptible;
  auto const file = scenario_file(options.file);
  auto const folder = std::filesystem::path(file).parent_path();
  auto const scenario = read_scenario(SourceText::load(file));
  if (!scenario.workload)
    throw InputError(
        fmt::format("{} has no block 'workload'; `lanewise plan` and `lanewise run` are for it", file.string()));
  auto workload = *scenario.workload;
  if (!options.library.empty()) workload.library = library_of(options.library);
  auto const library = workload.library ? to_string(*workload.library) : kBestPlan;
  auto const traffic = traffic_of(workload);
  std::vector<std::string> machines;
  if (!session.machine_name.empty())
    machines = {session.machine_name};
  else if (!options.traffic_only)
    machines = scenario.machines;

  std::optional<Progress> progress(std::in_place, "composing " + options.file);
  auto const listening = listen(progress);
  auto json = traffic_json(workload, traffic);
  auto text = traffic_text(workload, traffic);
  for (auto const& name : machines) {
    auto machine = session.machine_named_in(folder, name);
    apply_variant(machine, scenario, "", session.catalogue);
    session.apply_settings(machine);
    Model const model(machine);
    auto const& fitted = workload.compute.fitted;
    std::optional<Model> fitted_model;
    // It was measured on a machine without the scenario's settings.
    if (fitted)
      fitted_model.emplace(session.machine_named_in(folder, fitted->machine.empty() ? name : fitted->machine));
    auto const step = step_time(workload, model, fitted_model ? *fitted_model : model,
                                [&](Model const& on) { return make_executor(options.mode, on, {}); });
    auto one = step_json(workload, step);
    one["machine"] = machine.name;
    one["library"] = library;
    json["steps"].push_back(std::move(one));
    text += "\n" + step_text(workload, step, machine.name, library);
  }
  progress.reset();
  put_result(
      session, {}, [&] { return json; }, [&] { return text; });
}

}  // namespace

void add_workload(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand(
      "workload",
      "Show the traffic of a language model in training or inference, and how long a step takes on machines");
  auto const options = std::make_shared<WorkloadOptions>();
  command
      ->add_option("scenario", options->file, "A scenario file with a block 'workload', or the name of a bundled one")
      ->required()
      ->type_name("SCENARIO");
  session.add_machine(*command, "--on", false);
  session.add_html(*command);
  command->add_flag("--traffic", options->traffic_only, "Only the traffic, without the machines that the file names");
  command
      ->add_option("--mode", options->mode,
                   "sim: simulate every kind of message; estimate: as the planner estimates, without the simulator")
      ->check(CLI::IsMember({"sim", "estimate"}))
      ->capture_default_str();
  command
      ->add_option("--library", options->library,
                   "Who does the collectives: nccl, nccl-VERSION (2.18 to 2.30), rccl; best: as well as possible; the "
                   "workload's own when absent")
      ->type_name("LIBRARY");
  command->callback([&session, options] { workload(session, *options); });
}

}  // namespace lanewise::cli
