#pragma once
#include <optional>

#include "core/io/yaml.hpp"
#include "lanewise/planner/libraries/library_name.hpp"

namespace lanewise {

// The key `library` of a file; nullopt where it is absent or says best. A library that is not known is reported.
std::optional<Library> read_library(MapReader& reader);

}  // namespace lanewise
