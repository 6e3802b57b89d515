#include "core/scenario/access.hpp"

namespace lanewise {

MapSpec const& access_spec() {
  static MapSpec const spec{
      "access",
      {{.name = "each", .type = ValueType::Size, .doc = "one DMA; of a measured sweep its rows, where left out"},
       {.name = "window",
        .type = ValueType::Size,
        .doc = "memory that is touched again and again; of a measured sweep its rows, where left out"},
       {.name = "pattern", .type = ValueType::Word, .doc = "order of the touches", .words = {"random", "sequential"}}}};
  return spec;
}

FieldSpec access_field() {
  return {.name = "access",
          .type = ValueType::Map,
          .doc = "device DMA to host memory: how it is cut up",
          .map = &access_spec()};
}

std::optional<Access> read_access(MapReader& reader) {
  auto map = reader.map("access");
  if (!map) return std::nullopt;
  return Access{map->size("each").value_or(Bytes(0)), map->size("window").value_or(Bytes(0)),
                map->text("pattern") == "random"};
}

}  // namespace lanewise
