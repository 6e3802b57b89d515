#pragma once
// The mappings `settings` and `software` of machine and cluster files.
#include "core/io/yaml.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Overwrites what the mapping says and leaves the rest as it is. Problems go to the reader's diagnostics.
void read_settings(MapReader& reader, Settings& settings);
void read_software(MapReader& reader, Software& software);

}  // namespace lanewise
