#pragma once
// Where the data is that comes with lanewise: topologies, scenarios, measurements.
#include <filesystem>
#include <string_view>
#include <vector>

namespace lanewise {

// The folders of this name that are there, best first: installed beside this library, then that of the source tree it
// was built from.
std::vector<std::filesystem::path> bundled_folders(std::string_view folder);

// What a Catalogue searches unless told otherwise: the folder in the environment variable LANEWISE_TOPOLOGIES, then
// bundled_folders("topologies").
std::vector<std::filesystem::path> topology_folders();

}  // namespace lanewise
