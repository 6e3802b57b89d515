#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/session.hpp"
#include "core/interop/json_schema.hpp"
#include "core/interop/reference_text.hpp"

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

}  // namespace

void add_export(CLI::App& app, Session&) {
  auto* command = app.add_subcommand("export", "write what others read: JSON Schema, the keys of files, the rules");
  command->require_subcommand(1);
  add_of_kind(*command, "schema", "JSON Schema of a kind of file, for editors",
              [](FileKind kind) { fmt::print("{}\n", json_schema(kind).dump(2)); });
  add_of_kind(*command, "keys", "every key of a kind of file, as Markdown",
              [](FileKind kind) { fmt::print("{}", keys_text(kind)); });
  command->add_subcommand("rules", "every rule, as Markdown")->callback([] { fmt::print("{}", rules_text()); });
}

}  // namespace lanewise::cli
