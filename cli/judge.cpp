// lanewise judge: grades measured figures against the model, and names the likely cause of slow ones.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/benchmark_options.hpp"
#include "cli/session.hpp"
#include "core/diagnosis/diagnosis.hpp"
#include "core/interop/benchmarks/measured_input.hpp"
#include "core/view/diagnosis_text.hpp"
#include "sim/sim_library.hpp"

namespace lanewise::cli {
namespace {

struct JudgeOptions {
  std::string file;
  BenchmarkArguments benchmark;
};

void run(Session& session, JudgeOptions const& options) {
  auto const standard_input = options.file == "-";
  auto const source =
      SourceText::from_memory(standard_input ? "stdin" : options.file,
                              without_terminal_codes(read_file(standard_input ? "/dev/stdin" : options.file)));
  auto const measurement = read_measured_input(
      source, [&] { return session.machine(); }, options.benchmark.parsed());
  auto const described = session.catalogue.machine(session.machine_name);
  AccuracyContext const context{.machine = [&](Measurement const&) { return described; },
                                .override_machine = [&](Machine& machine) { session.apply_settings(machine); },
                                .executor = sim::make_executor_if_available,
                                .catalogue = session.catalogue};
  auto const diagnosis = diagnose(measurement, context);
  if (session.json)
    fmt::print("{}\n", diagnosis_json(diagnosis).dump(2));
  else
    fmt::print("{}", diagnosis_text(diagnosis));
  for (auto const& note : measurement.notes) fmt::print(stderr, "note: {}\n", note);
  if (diagnosis.worst() == Grade::Fail) session.exit_code = ExitCode::ExpectationFailed;
}

}  // namespace

void add_judge(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand(
      "judge", "Grade measured figures pass, warn or fail, and name the likely cause; the exit code is 1 on fail");
  auto options = std::make_shared<JudgeOptions>();
  session.add_machine(*command);
  command->add_option("file", options->file, "A measurement file, or what a benchmark printed; - reads standard input")
      ->required()
      ->type_name("FILE");
  options->benchmark.add_to(*command);
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
