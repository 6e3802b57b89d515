#include "cli/session.hpp"

#include <cstdlib>
#include <filesystem>

#include "core/machine/setting.hpp"

namespace lanewise::cli {
namespace fs = std::filesystem;
namespace {

// The user's own folder first, then the installed data, then the source tree's (when run from the build folder).
std::vector<fs::path> data_folders() {
  std::vector<fs::path> folders;
  if (auto const* own = std::getenv("LANEWISE_TOPOLOGIES"); own != nullptr && *own != '\0') folders.emplace_back(own);
  std::error_code error;
  auto const program = fs::read_symlink("/proc/self/exe", error);
  if (!error)
    if (auto installed = (program.parent_path() / LANEWISE_INSTALLED_DATA).lexically_normal();
        fs::is_directory(installed, error))
      folders.push_back(std::move(installed));
  if (fs::is_directory(LANEWISE_SOURCE_DATA, error)) folders.emplace_back(LANEWISE_SOURCE_DATA);
  return folders;
}

}  // namespace

Session::Session() : catalogue(data_folders()) {}

void Session::add_machine(CLI::App& command, std::string const& option, bool required) {
  auto* argument = command.add_option(option, machine_name, "a machine or cluster file, or the name of a bundled one");
  argument->required(required);
  argument->type_name("MACHINE");
  command
      .add_option("--set", settings,
                  "change a setting: acs=on, acs@sw0=RR,CR, iommu=translated, link@gpu3=\"gen3 x8\", ...")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  add_json(command);
}

void Session::add_json(CLI::App& command) { command.add_flag("--json", json, "print JSON instead of text"); }

Machine Session::machine() { return machine_named_in({}, machine_name); }

Machine Session::machine_named_in(fs::path const& folder, std::string const& name) {
  auto const beside = folder / name;
  std::error_code error;
  auto machine = catalogue.machine(!folder.empty() && fs::is_regular_file(beside, error) ? beside.string() : name);
  apply_settings(machine);
  return machine;
}

void Session::apply_settings(Machine& machine) {
  for (auto const& text : settings) apply_setting(machine, parse_setting(text), catalogue);
}

}  // namespace lanewise::cli
