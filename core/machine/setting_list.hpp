#pragma once
// Settings written as a YAML mapping: {acs: on, virtualization: {approval: true}, acs@sw0: [RR, CR]}.
#include <vector>

#include "core/io/yaml.hpp"
#include "lanewise/machine/setting.hpp"

namespace lanewise {

// The key `settings`, whose entries are those of --set.
FieldSpec settings_field();
// Its entries in file order; empty when it is absent. Problems go to the reader's diagnostics.
std::vector<Setting> read_settings(MapReader& reader);

}  // namespace lanewise
