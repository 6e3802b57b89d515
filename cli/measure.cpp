// lanewise measure: measures this machine's GPUs, into a file that accuracy, judge and calibrate read.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/executor_options.hpp"
#include "cli/progress.hpp"
#include "cli/session.hpp"
#include "core/io/interrupt.hpp"
#include "core/measurement/measurement_writer.hpp"
#include "core/measurement/measuring.hpp"
#include "core/measurement/new_measurement.hpp"
#include "core/measurement/repeated_sample.hpp"
#include "core/plan/run_environment.hpp"
#include "core/text/percent.hpp"
#include "core/text/table.hpp"
#include "hw/hw_library.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise::cli {
namespace {

namespace fs = std::filesystem;

struct MeasureOptions {
  std::string output;
  std::string only;
  std::string max_size = "1 GiB";
  bool resume = false;
  bool force = false;
  bool list_only = false;
  HardwareOptions hardware;
};

Worklist wanted(MeasureOptions const& options) {
  Worklist list;
  list.singles = options.only != "patterns";
  list.patterns = options.only != "singles";
  list.max_bytes = argument(parse_bytes(options.max_size));
  for (auto const& drive : options.hardware.settings().drives) list.drives.push_back(drive.drive);
  return list;
}

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::localtime(std::time(nullptr))); }

// The machine as a measurement file names it: a bundled one by name, a file by its path from the measurement.
std::string machine_beside(std::string const& machine, fs::path const& output) {
  std::error_code error;
  if (!fs::is_regular_file(machine, error)) return machine;
  return fs::proximate(fs::absolute(machine), fs::absolute(output).parent_path()).string();
}

// A new measurement, or with --resume the one in the file.
Measurement first_state(Session const& session, MeasureOptions const& options, Machine const& machine) {
  std::error_code error;
  if (fs::exists(options.output, error)) {
    if (!options.resume && !options.force)
      throw InputError(options.output + " is there already: --resume goes on with it, --force measures anew");
    if (options.resume) return resumed_measurement(SourceText::load(options.output), machine);
  }
  return new_measurement(machine, {.name = fs::path(options.output).stem().string(),
                                   .machine = machine_beside(session.machine_name, options.output),
                                   .version = LANEWISE_VERSION,
                                   .date = today(),
                                   .repeat = options.hardware.repetition.repeat});
}

std::size_t points_of(std::vector<MeasuredSeries> const& series) {
  std::size_t count = 0;
  for (auto const& one : series) count += one.points.size();
  return count;
}

void list(std::vector<MeasuredSeries> const& series) {
  Table table({"series", "figures"});
  for (auto const& one : series) table.add({one.name, fmt::format("{}", one.points.size())});
  fmt::print("{}{} figures in {} series\n", table.text(), points_of(series), series.size());
}

// How well the figures are known, and how far the machine drifted meanwhile.
std::string noise_text(Measurement const& measurement, std::size_t noisy) {
  auto text = noisy == 0 ? fmt::format("every new figure is known to {:.0f} % or better\n", kMaxNoise * 100)
                         : fmt::format(
                               "{} of the new figures are not known to {:.0f} %, however often repeated: see "
                               "their noise in the file\n",
                               noisy, kMaxNoise * 100);
  for (auto const& noise : measurement.noise)
    text += fmt::format("{} > {} drifted by {} over {} samples\n", noise.flow.from, noise.flow.to,
                        percent_text(noise.spread), noise.samples);
  return text;
}

void run(Session& session, MeasureOptions& options) {
  if (!options.list_only && !options.hardware.join()) return;
  Model const model(session.machine());
  if (model.machine().hosts.size() > 1 && !options.hardware.drives.empty())
    throw InputError(
        "--drive: of a cluster what is between its nodes is measured; measure a node's drives on its own machine file");
  auto const series = series_to_measure(model, wanted(options));
  if (options.list_only) return list(series);
  if (options.output.empty()) throw InputError("name the file to write with -o");
  auto measurement = first_state(session, options, model.machine());
  auto const meter = hw::hardware().make_meter(model, options.hardware.settings(), *options.hardware.nodes);
  measurement.environment.merge(meter->environment());
  if (auto const shared = measurement.environment.find(kSharedHostKey); shared != measurement.environment.end()) {
    measurement.doubtful = shared->second + ": the network between them is that host's memory";
    fmt::print(stderr, "warning: {}; the figures will not count\n", measurement.doubtful);
  }
  InterruptScope const interruptible;
  std::size_t noisy = 0;
  std::optional<Progress> progress(std::in_place, "figures", points_of(series));
  auto const save = [&](Measurement const& so_far) { write_file(options.output, to_json(so_far).dump(1) + "\n"); };
  MeasuringObserver const watch{
      [&](MeasuringProgress const& now) { progress->at(now.done, now.all, now.what, now.left); }, save,
      [&](std::string const& why) { progress->say("left out: " + why); },
      [&](std::string const& what) {
        progress->say("noisy: " + what);
        ++noisy;
      }};
  try {
    measurement = measure(model, *meter, series, std::move(measurement), watch);
  } catch (Interrupted const&) {
    progress.reset();
    throw Interrupted(fmt::format("stopped; {} has what was measured, --resume goes on", options.output));
  }
  progress.reset();
  for (auto const& [key, text] : meter->environment()) measurement.environment[key] = text;  // with what was found out
  save(measurement);
  if (session.json)
    fmt::print("{}\n", to_json(measurement).dump(2));
  else
    fmt::print("{} figures in {}\n{}", points_of(measurement.series), options.output, noise_text(measurement, noisy));
}

}  // namespace

void add_measure(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("measure",
                         "Measure single transfers, and patterns of many, on this machine's GPUs or, started by "
                         "mpirun on its nodes, between the nodes of a cluster");
  auto options = std::make_shared<MeasureOptions>();
  session.add_machine(*command);
  command->add_option("-o,--output", options->output, "The measurement file to write")->type_name("FILE");
  command->add_option("--only", options->only, "Measure only singles or only patterns; default: both")
      ->check(CLI::IsMember({"singles", "patterns"}));
  command->add_option("--most", options->max_size, "Measure no transfer larger than this")
      ->capture_default_str()
      ->type_name("SIZE");
  add_hardware_options(*command, options->hardware);
  add_drives(*command, options->hardware);
  command->add_flag("--resume", options->resume, "Go on with the existing file");
  command->add_flag("--force", options->force, "Measure anew and replace the existing file");
  command->add_flag("--list", options->list_only, "List what would be measured, and measure nothing");
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
