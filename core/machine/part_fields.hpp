#pragma once
// The table of keys of each kind of part.
#include <vector>

#include "core/machine/field.hpp"
#include "core/machine/part.hpp"

namespace lanewise {

using PartField = Field<Part>;

// In the order in which files are written.
std::vector<PartField> const& part_fields(PartKind kind);

}  // namespace lanewise
