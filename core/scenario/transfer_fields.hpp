#pragma once
// Keys that a scenario's transfer and a measured series or fact have in common.
#include <optional>
#include <string>

#include "core/io/yaml.hpp"
#include "core/rules/mechanism.hpp"

namespace lanewise {

FieldSpec from_field();
FieldSpec to_field();
FieldSpec op_field();
FieldSpec mechanism_field(std::string name, std::string doc);
// A mechanism by its name; what is wrong with it is said of `node`.
std::optional<Mechanism> mechanism_at(MapReader const& reader, YamlNode const& node, std::string const& name);

// How host_staged goes.
FieldSpec staging_field();
// Whether it is the driver's own. The key may stand only where host_staged is spoken of.
bool read_staging(MapReader& reader, bool of_host_staged);

// The mapping {each: 64 B, window: 4 MiB, pattern: random}: device DMA to host memory in pieces.
MapSpec const& access_spec();
FieldSpec access_field();
// What stands under it; a key that is left out is 0. Absent: nothing.
std::optional<Access> read_access(MapReader& reader);

FieldSpec pageable_field();
FieldSpec queue_pairs_field();
FieldSpec cores_field();

}  // namespace lanewise
