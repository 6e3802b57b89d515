#pragma once
// JSON Schema (draft 2020-12) of the files people write, with which editors complete and check them. It is made from
// the reader's own MapSpecs. The reader also checks what a schema cannot say: references, meanings, "exactly one of".
#include <nlohmann/json_fwd.hpp>

#include "core/reference/file_kind.hpp"

namespace lanewise {

nlohmann::ordered_json json_schema(FileKind kind);

}  // namespace lanewise
