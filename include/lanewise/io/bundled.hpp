#pragma once
// Where the data is that comes with lanewise: topologies, scenarios, measurements.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

// The folders of this name: the one installed beside this library; else that of the source tree it was built from; else
// none.
std::vector<std::filesystem::path> bundled_folders(std::string_view folder);

// The folder that this environment variable names, then the bundled ones of this name.
std::vector<std::filesystem::path> own_and_bundled_folders(char const* variable, std::string_view folder);
// The names of the YAML files in these folders, without their ending; sorted, each once. A folder that is not there has
// none.
std::vector<std::string> names_of_yaml_files(std::vector<std::filesystem::path> const& folders);
// Whether a command line or a file means a file by this text, whether it is there or not: it has a slash or the ending
// of a YAML or JSON file.
bool is_file_text(std::string_view text);

// What a Catalogue searches unless told otherwise: the folder in the environment variable LANEWISE_TOPOLOGIES, then
// bundled_folders("topologies").
std::vector<std::filesystem::path> topology_folders();

// The names of the bundled scenarios, sorted. Their files, somewhere in bundled_folders("scenarios"), are called so
// too.
std::vector<std::string> bundled_scenario_names();
// The file of the bundled scenario of this name.
std::optional<std::filesystem::path> bundled_scenario(std::string const& name);
// What a command line means by a scenario: a file, or where there is none, the bundled scenario of this name. A text
// with a slash or the ending of a file is a file, whether it is there or not. Throws InputError for an unknown name.
std::filesystem::path scenario_file(std::string const& name_or_file);

}  // namespace lanewise
