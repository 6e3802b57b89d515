#include "core/planner/libraries/library_field.hpp"

namespace lanewise {

std::optional<Library> read_library(MapReader& reader) {
  auto const name = reader.text("library");
  if (!name || *name == "best") return std::nullopt;
  auto const library = parse_library(*name);
  if (!library.value) reader.fail(*reader.node("library"), library.problem);
  return library.value;
}

}  // namespace lanewise
