#pragma once
// Values of keys that several readers of machine and cluster files take.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/io/yaml.hpp"

namespace lanewise {

// The count under a key; 0 is reported, and returned.
std::optional<int> positive_count(MapReader& reader, std::string_view key);

// The names under a key, a list of names and ranges: "gpu0..gpu7". A range that is none is reported.
std::vector<std::string> expanded_names(MapReader& reader, std::string_view key);

}  // namespace lanewise
