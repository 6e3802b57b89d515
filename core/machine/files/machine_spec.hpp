#pragma once
#include "core/io/yaml.hpp"

namespace lanewise {

// The keys of machine and cluster files and of mappings in them, to check files and to generate the JSON Schema.
MapSpec const& machine_spec();
MapSpec const& cluster_spec();
MapSpec const& settings_spec();
MapSpec const& port_spec();  // one item under `pcie` or `ports`
MapSpec const& virtualization_spec();

}  // namespace lanewise
