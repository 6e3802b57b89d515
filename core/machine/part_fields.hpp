#pragma once
// Every key of a part, once: its name, meaning, type, and the member it fills. The reader, the writer and the JSON
// Schema all walk this table.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/part.hpp"

namespace lanewise {

struct PartField {
  FieldSpec spec;
  std::function<void(Part&, MapReader&)> read;
  // The values as YAML texts: none when absent or at its default, one for a scalar, more for a list.
  std::function<std::vector<std::string>(Part const&)> write;
  std::function<void(Part&)> clear;  // back to "nobody says"
};

std::vector<PartField> const& part_fields(PartKind kind);

}  // namespace lanewise
