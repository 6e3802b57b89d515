#pragma once
#include "core/io/yaml.hpp"

namespace lanewise {

// The keys of a scenario file, to check files and to generate the JSON Schema.
MapSpec const& scenario_spec();

}  // namespace lanewise
