#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/session.hpp"
#include "core/interop/exports/chrome_trace.hpp"
#include "core/io/json.hpp"
#include "core/reference/json_schema.hpp"
#include "core/reference/reference_text.hpp"

namespace lanewise::cli {
namespace {

CLI::App* add_of_kind(CLI::App& command, std::string const& name, std::string const& what, void (*print)(FileKind)) {
  auto* exported = command.add_subcommand(name, what);
  auto const kind = std::make_shared<std::string>();
  exported->add_option("kind", *kind, "machine, cluster, part, scenario, measurement or calibration")
      ->required()
      ->type_name("KIND");
  exported->callback([kind, print] { print(argument(parse_file_kind(*kind))); });
  return exported;
}

struct Timeline {
  std::vector<std::string> traces;
  std::string output;
};

void export_trace(Timeline const& timeline) {
  std::vector<Trace> traces;
  for (auto const& file : timeline.traces)
    traces.push_back(trace_from_json(parse_json(SourceText::load(file), "trace/1")));
  auto const text = chrome_trace(traces).dump() + "\n";
  if (timeline.output.empty())
    fmt::print("{}", text);
  else
    write_file(timeline.output, text);
}

}  // namespace

void add_export(CLI::App& app, Session&) {
  auto* command = app.add_subcommand("export", "Write timelines, JSON Schema, and the reference of keys and rules");
  command->require_subcommand(1);
  add_of_kind(*command, "schema", "Print the JSON Schema of a kind of file, for editors",
              [](FileKind kind) { fmt::print("{}\n", json_schema(kind).dump(2)); });
  add_of_kind(*command, "keys", "Print every key of a kind of file, as Markdown",
              [](FileKind kind) { fmt::print("{}", keys_text(kind)); });
  auto* trace = command->add_subcommand("trace", "Write traces as a timeline for Perfetto or Chrome, one process each");
  auto timeline = std::make_shared<Timeline>();
  trace->add_option("traces", timeline->traces, "Traces made by `lanewise run -o`: predicted, measured")->required();
  trace->add_option("-o,--output", timeline->output, "Write to this file instead of standard output");
  trace->callback([timeline] { export_trace(*timeline); });
  command->add_subcommand("rules", "Print every rule, as Markdown")->callback([] { fmt::print("{}", rules_text()); });
}

}  // namespace lanewise::cli
