#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/accuracy/accuracy.hpp"
#include "core/io/digest.hpp"
#include "core/io/interrupt.hpp"
#include "core/view/accuracy_text.hpp"
#include "lanewise/io/error.hpp"
#include "sim/sim_library.hpp"

namespace lanewise::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  bool markdown = false;
};

// Appends the result of each file, until the user stops the program (Interrupted).
void evaluate_all(Session& session, std::vector<std::filesystem::path> const& files,
                  std::vector<MeasurementResult>& results) {
  Progress progress("files", files.size());
  for (auto const& file : files) {
    throw_if_interrupted();
    progress.doing(file.filename().string());
    auto const source = SourceText::load(file);
    auto const measurement = read_measurement(source);
    auto const* calibration = session.calibration();
    auto const machine = [&](Measurement const& m) {
      auto const beside = file.parent_path() / m.machine;
      auto const& own = session.machine_name;
      return session.catalogue.machine(
          own.empty() ? (std::filesystem::is_regular_file(beside) ? beside.string() : m.machine) : own);
    };
    AccuracyContext const context{
        .machine = machine,
        .override_machine = [&](Machine& m) { session.apply_settings(m); },
        .executor = sim::make_executor_if_available,
        .catalogue = session.catalogue,
        .calibration = calibration,
        .fitted_to_this = calibration != nullptr && calibration->measurement.digest == digest_of(source.text()),
        .changes = true};
    results.push_back(evaluate(measurement, context));
    progress.done();
  }
}

void run(Session& session, Options const& options) {
  auto files = yaml_files(options.files);
  if (options.files.empty()) files = yaml_files({session.measurement_folder().string()});
  std::vector<MeasurementResult> results;
  InterruptScope const interruptible;
  try {
    evaluate_all(session, files, results);
  } catch (Interrupted const&) {
    if (results.empty()) throw;
  }
  put_result(
      session, "", [&] { return accuracy_json(results); },
      [&] { return options.markdown ? accuracy_markdown(results) : accuracy_text(results); });
  if (results.size() < files.size()) stopped(session, results.size(), files.size(), "files");
}

}  // namespace

void add_accuracy(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("accuracy", "Compare predictions with measurements: errors, 90 % ranges, worst points");
  auto options = std::make_shared<Options>();
  command->add_option("files", options->files, "Measurement files, or folders of them; default: the published ones")
      ->type_name("FILE");
  session.add_machine(*command, "--on", false);
  session.add_html(*command);
  command->add_flag("--markdown", options->markdown, "Print the Markdown of docs/accuracy.md");
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
