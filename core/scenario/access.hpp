#pragma once
// The key `access` of a transfer or a measured series: device DMA to host memory in pieces.
#include "core/io/yaml.hpp"
#include "core/rules/mechanism.hpp"

namespace lanewise {

// The mapping {each: 64 B, window: 4 MiB, pattern: random}.
MapSpec const& access_spec();
FieldSpec access_field();
// What stands under it; a key that is left out is 0. Absent: nothing.
std::optional<Access> read_access(MapReader& reader);

}  // namespace lanewise
