#pragma once
// The table of keys of each kind of part, and what reads them.
#include <string_view>
#include <vector>

#include "core/io/yaml.hpp"
#include "core/machine/field.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/part.hpp"

namespace lanewise {

using PartField = Field<Part>;

// In the order in which files are written.
std::vector<PartField> const& part_fields(PartKind kind);

// Whether a key only says what a part is called or belongs to (title, vendor, generation): it needs no source.
bool is_name(std::string_view key);

// The keys of a part of this kind, to check files and to generate the JSON Schema.
MapSpec const& part_spec(PartKind kind);
// Reads a part from a mapping, which must have the key `kind`. Problems go to the diagnostics.
Part read_part(std::string name, YamlNode const& node, SourceText const& source, Diagnostics& diagnostics);

}  // namespace lanewise
