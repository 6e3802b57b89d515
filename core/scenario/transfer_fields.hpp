#pragma once
// Keys that transfers of scenarios share with series and facts of measurements.
#include <optional>
#include <string>

#include "core/io/yaml.hpp"
#include "lanewise/rules/mechanism.hpp"

namespace lanewise {

FieldSpec from_field();
FieldSpec to_field();
FieldSpec op_field(std::string doc);
FieldSpec mechanism_field(std::string name, std::string doc);
// The mechanism of this name; an unknown name is reported at `node`.
std::optional<Mechanism> mechanism_at(MapReader const& reader, YamlNode const& node, std::string const& name);

// Who stages through host memory: lanewise or the CUDA driver.
FieldSpec staging_field();
// Whether the driver stages. Reports the key if the mechanism is not host_staged.
bool read_staging(MapReader& reader, bool of_host_staged);

// The mapping {each: 64 B, window: 4 MiB, pattern: random}: device DMA to host memory in pieces.
MapSpec const& access_spec();
FieldSpec access_field();
// Keys that are left out are 0. Returns nullopt if there is no `access`.
std::optional<Access> read_access(MapReader& reader);

FieldSpec pageable_field();
FieldSpec queue_pairs_field();
FieldSpec nics_field();
// Two names or none; reports another count.
std::vector<std::string> read_nics(MapReader& reader);
FieldSpec cores_field();

}  // namespace lanewise
