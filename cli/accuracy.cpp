#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/executors.hpp"
#include "cli/session.hpp"
#include "core/io/error.hpp"
#include "core/verdict/accuracy.hpp"

namespace lanewise::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  bool markdown = false;
};

void run(Session& session, Options const& options) {
  auto files = yaml_files(options.files);
  if (options.files.empty()) files = yaml_files({session.measurement_folder().string()});
  std::vector<MeasurementResult> results;
  for (auto const& file : files) {
    auto const measurement = read_measurement(SourceText::load(file));
    AccuracyWorld const world{[&](Measurement const& m) {
                                return session.machine_named_in(file.parent_path(), session.machine_name.empty()
                                                                                        ? m.machine
                                                                                        : session.machine_name);
                              },
                              simulator, session.catalogue};
    results.push_back(judge(measurement, world));
  }
  if (session.json)
    fmt::print("{}\n", accuracy_json(results).dump(2));
  else
    fmt::print("{}", options.markdown ? accuracy_markdown(results) : accuracy_text(results));
}

}  // namespace

void add_accuracy(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("accuracy", "hold the model against measurements: errors, ranges, worst points");
  auto options = std::make_shared<Options>();
  command->add_option("files", options->files, "measurement files, or folders of them; the published ones when absent");
  session.add_machine(*command, "--on", false);
  command->add_flag("--markdown", options->markdown, "print docs/accuracy.md");
  command->callback([&session, options] { run(session, *options); });
}

}  // namespace lanewise::cli
