// lanewise judge: a machine's figures held against its model, and what is most likely the matter.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/benchmark_options.hpp"
#include "cli/executors.hpp"
#include "cli/session.hpp"
#include "core/diagnosis/judgement.hpp"
#include "core/io/error.hpp"

namespace lanewise::cli {
namespace {

struct JudgeOptions {
  std::string file;
  BenchmarkArguments benchmark;
};

// A measurement file, or what a benchmark printed.
Measurement measurement_in(SourceText const& source, JudgeOptions const& options, Session& session) {
  if (auto const tool = detect_benchmark(source.text());
      tool && source.text().find("measurement/1") == std::string::npos)
    return read_benchmark(*tool, source, session.machine(), options.benchmark.parsed());
  if (source.text().find("lanewise") != std::string::npos) return read_measurement(source);
  std::string tools;
  for (auto const tool : kBenchmarks) tools += fmt::format("\n  {}", describe(tool));
  throw InputError(
      fmt::format("{}: neither a measurement file nor the output of a known benchmark:{}", source.name(), tools));
}

void run(Session& session, JudgeOptions const& options) {
  auto const standard_input = options.file == "-";
  auto const source =
      SourceText::from_memory(standard_input ? "stdin" : options.file,
                              without_terminal_codes(read_file(standard_input ? "/dev/stdin" : options.file)));
  auto const measurement = measurement_in(source, options, session);
  auto const described = session.catalogue.machine(session.machine_name);
  AccuracyWorld const world{.machine = [&](Measurement const&) { return described; },
                            .override_machine = [&](Machine& machine) { session.apply_settings(machine); },
                            .executor = simulator,
                            .catalogue = session.catalogue};
  auto const judgement = diagnose(measurement, world);
  if (session.json)
    fmt::print("{}\n", judgement_json(judgement).dump(2));
  else
    fmt::print("{}", judgement_text(judgement));
  for (auto const& note : measurement.notes) fmt::print(stderr, "note: {}\n", note);
  if (judgement.worst() == Grade::Fail) session.exit_code = ExitCode::ExpectationFailed;
}

}  // namespace

void add_judge(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("judge", "measured figures, each pass, warn or fail, and what is the matter");
  auto options = std::make_shared<JudgeOptions>();
  session.add_machine(*command);
  command->add_option("file", options->file, "a measurement, or what a benchmark printed; - reads standard input")
      ->required()
      ->type_name("FILE");
  options->benchmark.add_to(*command);
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
