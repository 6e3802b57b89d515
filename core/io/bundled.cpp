#include "lanewise/io/bundled.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <set>

#include "core/io/own_library.hpp"
#include "core/io/spelling.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace fs = std::filesystem;
namespace {

// The files of bundled scenarios by name; the first folder that has a name wins.
std::map<std::string, fs::path> bundled_scenarios() {
  std::map<std::string, fs::path> files;
  for (auto const& folder : bundled_folders("scenarios"))
    for (auto const& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".yaml") files.emplace(entry.path().stem().string(), entry.path());
  return files;
}

}  // namespace

std::vector<std::filesystem::path> bundled_folders(std::string_view folder) {
  auto const installed = own_library_path(LANEWISE_INSTALLED_DATA) / folder;
  std::error_code error;
  for (auto const& path : {installed.lexically_normal(), fs::path(LANEWISE_SOURCE_DATA) / folder})
    if (fs::is_directory(path, error)) return {path};
  return {};
}

std::vector<std::filesystem::path> own_and_bundled_folders(char const* variable, std::string_view folder) {
  auto folders = bundled_folders(folder);
  if (auto const* own = std::getenv(variable); own != nullptr && *own != '\0') folders.insert(folders.begin(), own);
  return folders;
}

std::vector<std::string> names_of_yaml_files(std::vector<std::filesystem::path> const& folders) {
  std::set<std::string> names;
  for (auto const& folder : folders) {
    std::error_code error;
    for (auto const& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".yaml") names.insert(entry.path().stem().string());
  }
  return {names.begin(), names.end()};
}

bool is_file_text(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".yaml") || text.ends_with(".json");
}

std::vector<std::filesystem::path> topology_folders() {
  return own_and_bundled_folders("LANEWISE_TOPOLOGIES", "topologies");
}

std::vector<std::string> bundled_scenario_names() {
  std::vector<std::string> names;
  for (auto const& [name, file] : bundled_scenarios()) names.push_back(name);
  return names;
}

std::optional<fs::path> bundled_scenario(std::string const& name) {
  auto const files = bundled_scenarios();
  auto const found = files.find(name);
  return found == files.end() ? std::nullopt : std::optional(found->second);
}

fs::path scenario_file(std::string const& name_or_file) {
  std::error_code error;
  if (fs::exists(name_or_file, error) || is_file_text(name_or_file)) return name_or_file;
  if (auto const bundled = bundled_scenario(name_or_file)) return *bundled;
  throw InputError(fmt::format("no scenario is called '{}'{} give a file, or a name of `lanewise list scenarios`",
                               name_or_file, did_you_mean_first(name_or_file, bundled_scenario_names())));
}

}  // namespace lanewise
