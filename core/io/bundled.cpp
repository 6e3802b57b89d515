#include "lanewise/io/bundled.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>

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

std::vector<std::filesystem::path> topology_folders() {
  auto folders = bundled_folders("topologies");
  if (auto const* own = std::getenv("LANEWISE_TOPOLOGIES"); own != nullptr && *own != '\0')
    folders.insert(folders.begin(), own);
  return folders;
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
  if (fs::exists(name_or_file, error) || name_or_file.find('/') != std::string::npos ||
      name_or_file.ends_with(".yaml") || name_or_file.ends_with(".json"))
    return name_or_file;
  if (auto const bundled = bundled_scenario(name_or_file)) return *bundled;
  throw InputError(fmt::format("no scenario is called '{}'{} give a file, or a name of `lanewise list scenarios`",
                               name_or_file, did_you_mean_first(name_or_file, bundled_scenario_names())));
}

}  // namespace lanewise
