#pragma once
// What every subcommand shares: the catalogue, the machine argument with its --set, and --json.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/machine/catalogue.hpp"
#include "core/machine/machine.hpp"

namespace lanewise::cli {

enum class ExitCode : int { Fine = 0, ExpectationFailed = 1, BadInput = 2, Missing = 3 };

// Collects what the command line said; a subcommand's callback uses it and leaves its exit code here.
struct Session {
  Session();

  Catalogue catalogue;
  std::string machine_name;
  std::vector<std::string> settings;  // of --set
  bool json = false;
  ExitCode exit_code = ExitCode::Fine;

  // Adds MACHINE as a positional argument (or as an option such as --on), and --set and --json.
  void add_machine(CLI::App& command, std::string const& option = "machine", bool required = true);
  void add_json(CLI::App& command);
  // The named machine with every --set applied.
  Machine machine();
  // A machine that a file in `folder` names: a file there, or as on the command line. With every --set applied.
  Machine machine_named_in(std::filesystem::path const& folder, std::string const& name);
  void apply_settings(Machine& machine);
  // The folder of the bundled measurements. Throws MissingError when it is not there.
  [[nodiscard]] std::filesystem::path measurement_folder() const;
};

// Files as given; folders as all the YAML files below them, in order of name. Throws InputError for an empty folder.
std::vector<std::filesystem::path> yaml_files(std::vector<std::string> const& arguments);

// The value of a parsed argument; throws InputError with the parser's reason when there is none.
template <class T>
T argument(Parsed<T> parsed) {
  if (!parsed.value) throw InputError(parsed.problem);
  return *parsed.value;
}

// Each adds its subcommand.
void add_accuracy(CLI::App& app, Session& session);
void add_check(CLI::App& app, Session& session);
void add_compare(CLI::App& app, Session& session);
void add_emulate(CLI::App& app, Session& session);
void add_export(CLI::App& app, Session& session);
void add_import(CLI::App& app, Session& session);
void add_matrix(CLI::App& app, Session& session);
void add_plan(CLI::App& app, Session& session);
void add_run(CLI::App& app, Session& session);
void add_show(CLI::App& app, Session& session);
void add_whatif(CLI::App& app, Session& session);
void add_why(CLI::App& app, Session& session);

}  // namespace lanewise::cli
