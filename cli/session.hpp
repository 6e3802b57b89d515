#pragma once
// What every subcommand shares: the catalogue, the machine with its --calibration and --set, --json, the exit code.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.hpp"
#include "core/calibration/calibration.hpp"
#include "core/io/argument.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::cli {

// The shared part of the command line. A subcommand's callback reads it, and sets `exit_code`.
struct Session {
  Session();

  Catalogue catalogue;
  std::string machine_name;
  std::vector<std::string> settings;  // of --set
  std::string calibration_file;       // of --calibration; empty: none
  bool json = false;
  std::string html;          // of --html; empty: no page
  std::string command_line;  // as it could be typed again
  ExitCode exit_code = ExitCode::Fine;

  // Adds MACHINE as a positional argument, or as an option such as --on; and --calibration, --set and --json.
  void add_machine(CLI::App& command, std::string const& option = "machine", bool required = true);
  void add_json(CLI::App& command);
  // Adds --html.
  void add_html(CLI::App& command);
  // Reads the named machine, and applies the calibration and every --set.
  Machine machine();
  // The same without any --set.
  Machine machine_before_settings();
  // The calibration of --calibration; nullptr when there is none.
  Calibration const* calibration();
  // The same for a machine that a file in `folder` names: a file there, or a name as on the command line.
  Machine machine_named_in(std::filesystem::path const& folder, std::string const& name);
  void apply_settings(Machine& machine);
  // The folder of the bundled measurements. Throws MissingError when it is not there.
  [[nodiscard]] std::filesystem::path measurement_folder() const;

 private:
  Machine calibrated(Machine machine);
  std::optional<Calibration> calibration_;  // read when first asked for
};

// Replaces every folder by the YAML files in and below it, sorted by name. Throws InputError for a folder without any.
std::vector<std::filesystem::path> yaml_files(std::vector<std::string> const& arguments);

// Prints JSON with --json, else the text; writes the JSON to the file `output` where that is not empty, and with --html
// a page that draws it, with `machine` where there is one. Only what is wanted is made: that of a large plan takes
// longer than the plan. Throws MissingError where the program draws no pages.
void put_result(Session const& session, std::string const& output, std::function<nlohmann::ordered_json()> const& json,
                std::function<std::string()> const& text, Machine const* machine = nullptr);

// Writes the page of --html.
void put_page(Session const& session, nlohmann::ordered_json const& result, Machine const* machine);

// Prints notes of a machine or a measurement to standard error, those of something that no source says, or of which
// sources say different things, as warnings.
void print_notes(std::vector<std::string> const& notes);

// After the user stopped the program and what was finished is printed: says how much that is, and sets the exit code.
void stopped(Session& session, std::size_t done, std::size_t all, std::string_view unit);

// Each adds the subcommand of its name.
void add_accuracy(CLI::App& app, Session& session);
void add_calibrate(CLI::App& app, Session& session);
void add_check(CLI::App& app, Session& session);
void add_compare(CLI::App& app, Session& session);
void add_design(CLI::App& app, Session& session);
void add_diff(CLI::App& app, Session& session);
void add_discover(CLI::App& app, Session& session);
void add_emulate(CLI::App& app, Session& session);
void add_explore(CLI::App& app, Session& session);
void add_export(CLI::App& app, Session& session);
void add_import(CLI::App& app, Session& session);
void add_judge(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_list(CLI::App& app, Session& session);
void add_matrix(CLI::App& app, Session& session);
void add_measure(CLI::App& app, Session& session);
void add_plan(CLI::App& app, Session& session);
void add_rank(CLI::App& app, Session& session);
void add_report(CLI::App& app, Session& session);
void add_run(CLI::App& app, Session& session);
void add_show(CLI::App& app, Session& session);
void add_whatif(CLI::App& app, Session& session);
void add_why(CLI::App& app, Session& session);
void add_workload(CLI::App& app, Session& session);

}  // namespace lanewise::cli
