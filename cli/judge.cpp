// lanewise judge: grades measured figures against the model, and names the likely cause of slow ones.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/benchmark_options.hpp"
#include "cli/command_description.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/diagnosis/diagnosis.hpp"
#include "core/interop/benchmarks/measured_input.hpp"
#include "core/io/interrupt.hpp"
#include "core/view/diagnosis_text.hpp"
#include "lanewise/estimate/estimating_executor.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/planner/libraries/library_name.hpp"
#include "sim/sim_library.hpp"

namespace lanewise::cli {
namespace {

struct JudgeOptions {
  std::string file;
  std::string on;  // of --on
  std::string library;
  std::string tool;
  BenchmarkArguments benchmark;
};

// The name of the machine that a measurement was made on, as that machine's file says it.
std::string measured_machine(Session& session, Measurement const& measurement, std::filesystem::path const& folder) {
  auto const beside = folder / measurement.machine;
  std::error_code error;
  bool const is_file = std::filesystem::is_regular_file(beside, error);
  try {
    return session.catalogue.machine(is_file ? beside.string() : measurement.machine).name;
  } catch (InputError const&) {  // that machine is not described here; its name says which it was
    return std::filesystem::path(measurement.machine).stem().string();
  }
}

// A file that names its machine is not for another one.
void refuse_other_machine(Session& session, Measurement const& measurement, Machine const& machine,
                          JudgeOptions const& options) {
  if (!options.on.empty() || measurement.machine.empty()) return;
  auto const measured = measured_machine(session, measurement, std::filesystem::path(options.file).parent_path());
  if (measured != machine.name)
    throw InputError(
        fmt::format("{} was measured on '{}', not on '{}'; to grade it against '{}' all the same, write "
                    "--on {}",
                    options.file, measured, machine.name, machine.name, session.machine_name));
}

// MACHINE FILE, or FILE --on MACHINE.
void settle_arguments(Session& session, JudgeOptions& options) {
  if (options.file.empty() && !options.on.empty())
    options.file = std::move(session.machine_name);
  else if (!options.on.empty() && session.machine_name != options.on)
    throw InputError(fmt::format("judge against '{}' or '{}'? Write MACHINE FILE, or FILE --on MACHINE",
                                 session.machine_name, options.on));
  if (!options.on.empty()) session.machine_name = options.on;
  if (options.file.empty())
    throw InputError("the measured file is missing: judge MACHINE FILE; - reads standard input");
}

std::optional<Benchmark> tool_named(std::string const& name) {
  for (auto const tool : kBenchmarks)
    if (to_string(tool) == name) return tool;
  return std::nullopt;
}

void run(Session& session, JudgeOptions& options) {
  settle_arguments(session, options);
  auto const standard_input = options.file == "-";
  auto const source =
      SourceText::from_memory(standard_input ? "stdin" : options.file,
                              without_terminal_codes(read_file(standard_input ? "/dev/stdin" : options.file)));
  auto measurement = read_measured_input(
      source, [&] { return session.machine(); }, options.benchmark.parsed(), tool_named(options.tool));
  if (!options.library.empty()) {
    auto const library = argument(parse_library(options.library));
    for (auto& series : measurement.series)
      if (series.collective) series.collective->library = library;
  }
  auto const described = session.catalogue.machine(session.machine_name);
  refuse_other_machine(session, measurement, described, options);
  bool is_estimated = false;  // several transfers at once, where nothing here simulates
  auto const executor = [&](Model const& model) -> std::unique_ptr<Executor> {
    auto simulated = sim::make_executor_if_available(model);
    if (simulated) return simulated;
    is_estimated = true;
    return std::make_unique<EstimatingExecutor>(model);
  };
  AccuracyContext const context{.machine = [&](Measurement const&) { return described; },
                                .override_machine = [&](Machine& machine) { session.apply_settings(machine); },
                                .executor = executor,
                                .catalogue = session.catalogue};
  InterruptScope const interruptible;
  auto const diagnosis = [&] {
    Progress const progress("grading " + options.file);
    return diagnose(measurement, context);
  }();
  put_result(
      session, "", [&] { return diagnosis_json(diagnosis); }, [&] { return diagnosis_text(diagnosis); }, &described);
  print_notes(measurement.notes);
  if (is_estimated) print_notes({"no simulator in this build: several transfers at once are judged by the estimate"});
  if (diagnosis.worst() == Grade::Fail) session.exit_code = ExitCode::ExpectationFailed;
}

}  // namespace

void add_judge(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand(
      "judge", "Grade measured figures pass, warn or fail, and name the likely cause; the exit code is 1 on fail");
  auto options = std::make_shared<JudgeOptions>();
  session.add_machine(*command);
  session.add_html(*command);
  command->add_option("file", options->file, "A measurement file, or what a benchmark printed; - reads standard input")
      ->type_name("FILE");
  command
      ->add_option("--on", options->on,
                   "Grade against this machine, whichever the file was measured on: judge FILE --on MACHINE")
      ->type_name("MACHINE");
  command
      ->add_option(
          "--library", options->library,
          "Grade collectives by what this library would do, whichever the file names: nccl, nccl-VERSION, rccl, "
          "mpi, oneshot")
      ->type_name("LIBRARY");
  std::vector<std::string> tools;
  for (auto const tool : kBenchmarks) tools.emplace_back(to_string(tool));
  command->add_option("--tool", options->tool, "Read FILE as the output of this tool, where it looks like several")
      ->check(one_of(tools))
      ->type_name("TOOL");
  options->benchmark.add_to(*command);
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
