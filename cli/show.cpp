#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/session.hpp"
#include "core/machine/machine_file.hpp"

namespace lanewise::cli {

void add_show(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("show", "show a machine");
  session.add_machine(*command);
  command->callback([&session] { fmt::print("{}", write_machine(session.machine())); });
}

}  // namespace lanewise::cli
