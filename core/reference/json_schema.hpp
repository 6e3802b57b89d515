#pragma once
// JSON Schema (draft 2020-12) of the files people write, so that editors complete and check them. It is made from the
// reader's own MapSpecs; what it cannot say (references, ranges of meaning, "exactly one of") the reader checks.
#include <nlohmann/json_fwd.hpp>

#include "core/reference/file_kind.hpp"

namespace lanewise {

nlohmann::ordered_json json_schema(FileKind kind);

}  // namespace lanewise
