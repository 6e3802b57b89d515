#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/calibration/calibrate.hpp"
#include "core/io/digest.hpp"
#include "core/io/interrupt.hpp"
#include "core/view/calibration_text.hpp"
#include "lanewise/io/error.hpp"
#include "sim/sim_library.hpp"

namespace lanewise::cli {
namespace {

struct CalibrateOptions {
  std::string file;
  std::string output;
  std::vector<std::string> patterns;
};

void run(Session& session, CalibrateOptions const& options) {
  if (!session.calibration_file.empty())
    throw InputError("--calibration: a machine is calibrated from its machine file, not from another calibration");
  auto const machine = session.catalogue.machine(session.machine_name);
  auto const source = SourceText::load(options.file);
  CalibrationRequest request{read_measurement(source), digest_of(source.text()), options.patterns, {}};
  for (auto const& text : session.settings) request.measurement.settings.push_back(parse_setting(text));
  if (!options.patterns.empty()) request.executor = sim::make_executor;
  InterruptScope const interruptible;
  auto const outcome = [&] {
    Progress const progress("fitting " + machine.name + " to " + options.file);
    return calibrate(request, machine, session.catalogue);
  }();
  if (!options.output.empty()) write_file(options.output, write_calibration(outcome.overlay));
  if (session.json)
    fmt::print("{}\n", calibration_json(outcome).dump(2));
  else
    fmt::print("{}", calibration_text(outcome));
}

}  // namespace

void add_calibrate(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("calibrate", "Fit a machine's figures to measured single transfers");
  auto options = std::make_shared<CalibrateOptions>();
  session.add_machine(*command);
  command->add_option("measurement", options->file, "A measurement file, such as `lanewise measure` writes")
      ->required()
      ->type_name("FILE");
  command->add_option("-o,--output", options->output, "Write the calibration to this file, for --calibration")
      ->type_name("FILE");
  command
      ->add_option("--patterns", options->patterns,
                   "Also fit limits that transfers share (host memory), to these series of the file")
      ->delimiter(',')
      ->type_name("SERIES");
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
