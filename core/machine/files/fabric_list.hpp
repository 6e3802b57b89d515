#pragma once
#include "core/io/yaml.hpp"
#include "core/machine/files/part_table.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Reads the keys `fabric` and `fabrics` of a cluster file, of which a cluster has at most one. The cluster has all its
// nodes and domains. What is wrong is reported.
void read_fabrics(MapReader& top, PartTable& parts, Machine& cluster);

}  // namespace lanewise
