#include "cli/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/view/machine/machine_json.hpp"
#include "lanewise/io/bundled.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/setting.hpp"
#include "pages/page.hpp"

namespace lanewise::cli {
namespace fs = std::filesystem;
namespace {

// Whether a note is of something that no source says, or of which sources say different things.
bool is_doubtful(std::string_view note) {
  return note.starts_with("inferred:") || note.starts_with("missing:") || note.starts_with("contradiction:");
}

}  // namespace

Session::Session() : catalogue(topology_folders()) {}

void Session::add_machine(CLI::App& command, std::string const& option, bool required) {
  auto* argument = command.add_option(option, machine_name, "A machine or cluster file, or the name of a bundled one");
  argument->required(required);
  argument->type_name("MACHINE");
  command
      .add_option(
          "--calibration", calibration_file,
          "Apply figures fitted to measurements of this machine, as `lanewise calibrate` writes them; before --set")
      ->type_name("FILE");
  command
      .add_option("--set", settings,
                  "Change a setting: acs=on, acs@sw0=RR,CR, iommu=translated, link@gpu3=\"gen3 x8\", ...")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_json(command);
}

void Session::add_json(CLI::App& command) { command.add_flag("--json", json, "Print JSON instead of text"); }
void Session::add_html(CLI::App& command) {
  command.add_option("--html", html, "Also write a page that draws the result to this file; it opens offline")
      ->type_name("FILE");
}

Calibration const* Session::calibration() {
  if (!calibration_ && !calibration_file.empty()) calibration_ = read_calibration(SourceText::load(calibration_file));
  return calibration_ ? &*calibration_ : nullptr;
}

Machine Session::calibrated(Machine machine) {
  if (auto const* overlay = calibration()) apply(*overlay, machine);
  return machine;
}

Machine Session::machine() { return machine_named_in({}, machine_name); }

Machine Session::machine_before_settings() { return calibrated(catalogue.machine(machine_name)); }

Machine Session::machine_named_in(fs::path const& folder, std::string const& name) {
  auto const beside = folder / name;
  std::error_code error;
  auto machine =
      calibrated(catalogue.machine(!folder.empty() && fs::is_regular_file(beside, error) ? beside.string() : name));
  apply_settings(machine);
  return machine;
}

void Session::apply_settings(Machine& machine) {
  for (auto const& text : settings) apply_setting(machine, parse_setting(text), catalogue);
}

fs::path Session::measurement_folder() const {
  auto const folders = bundled_folders("measurements/published");
  if (folders.empty()) throw MissingError("the published measurements are not installed; give a file");
  return folders.front();
}

std::vector<fs::path> yaml_files(std::vector<std::string> const& arguments) {
  std::vector<fs::path> files;
  for (auto const& argument : arguments) {
    std::error_code error;
    if (!fs::is_directory(argument, error)) {
      files.emplace_back(argument);
      continue;
    }
    std::vector<fs::path> found;
    for (auto const& entry : fs::recursive_directory_iterator(argument))
      if (entry.path().extension() == ".yaml") found.push_back(entry.path());
    if (found.empty()) throw InputError(fmt::format("{}: holds no *.yaml file", argument));
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

void put_page(Session const& session, nlohmann::ordered_json const& result, Machine const* machine) {
  PageContent content{
      .title = session.command_line, .made_by = fmt::format("lanewise {}", LANEWISE_VERSION), .result = result};
  if (machine != nullptr) content.machine = machine_json(*machine);
  write_file(session.html, html_page(content));
}

void put_result(Session const& session, std::string const& output, std::function<nlohmann::ordered_json()> const& json,
                std::function<std::string()> const& text, Machine const* machine) {
  nlohmann::ordered_json result;
  if (session.json || !output.empty() || !session.html.empty()) result = json();
  if (!output.empty()) write_file(output, result.dump(2) + "\n");
  fmt::print("{}", session.json ? result.dump(2) + "\n" : text());
  if (!session.html.empty()) put_page(session, result, machine);  // last: where it fails the result is not lost
}

void print_notes(std::vector<std::string> const& notes) {
  for (auto const& note : notes) fmt::print(stderr, "{}: {}\n", is_doubtful(note) ? "warning" : "note", note);
}

void stopped(Session& session, std::size_t done, std::size_t all, std::string_view unit) {
  std::fflush(stdout);
  fmt::print(stderr, "stopped: {} of {} {} are above\n", done, all, unit);
  session.exit_code = ExitCode::Interrupted;
}

}  // namespace lanewise::cli
