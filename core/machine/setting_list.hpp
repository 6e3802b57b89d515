#pragma once
// Settings as a mapping of a YAML file: {acs: on, virtualization: {approval: true}, acs@sw0: [RR, CR]}.
#include <vector>

#include "core/io/yaml.hpp"
#include "core/machine/setting.hpp"

namespace lanewise {

// The key `settings`, in the words of --set.
FieldSpec settings_field();
// What stands under it; empty when it is absent.
std::vector<Setting> read_settings(MapReader& reader);

}  // namespace lanewise
