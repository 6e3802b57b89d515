#pragma once
// Settings written as a YAML mapping: {acs: on, virtualization: {approval: true}, acs@sw0: [RR, CR]}.
#include <vector>

#include "core/io/yaml.hpp"
#include "lanewise/machine/setting.hpp"

namespace lanewise {

// The key `settings`, or another, whose entries are those of --set.
FieldSpec settings_field(std::string name = "settings");
// Its entries in file order; empty when it is absent. Problems go to the reader's diagnostics.
std::vector<Setting> read_settings(MapReader& reader, std::string_view key = "settings");

}  // namespace lanewise
