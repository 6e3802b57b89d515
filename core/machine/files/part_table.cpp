#include "core/machine/files/part_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/io/spelling.hpp"
#include "core/machine/part_fields.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise {

void PartTable::read_inline(MapReader& top) {
  auto const* node = top.custom("parts");
  if (node == nullptr) return;
  if (node->kind != YamlKind::Map) return top.fail(*node, "'parts': expected a mapping of names to parts");
  for (auto const& entry : node->entries) {
    auto part = read_part(entry.key, entry.value, top.source(), top.diagnostics());
    part.inlined = true;
    inline_parts_.emplace(entry.key, std::move(part));
  }
}

std::optional<PartId> PartTable::enter(Machine& machine, MapReader const& reader, YamlNode const& node,
                                       std::string const& name, PartKind kind) {
  if (name == "unknown") return std::nullopt;
  auto const inlined = inline_parts_.find(name);
  auto const* const found = inlined != inline_parts_.end() ? &inlined->second : catalogue_.part(name);
  if (found == nullptr) {
    auto names = catalogue_.part_names();
    for (auto const& [inline_name, unused] : inline_parts_) names.push_back(inline_name);
    reader.fail(
        node,
        fmt::format("no part is called '{}'{} parts are files in parts/, or described under 'parts:' in this file",
                    name, did_you_mean_first(name, names)));
    return std::nullopt;
  }
  if (found->kind != kind) {
    reader.fail(node, fmt::format("the part '{}' is a {}, but a {} is needed here", name, to_string(found->kind),
                                  to_string(kind)));
    return std::nullopt;
  }
  // By value: nodes of a cluster may have different parts of one name.
  auto const known = std::find(machine.parts.begin(), machine.parts.end(), *found);
  if (known != machine.parts.end()) return PartId(known - machine.parts.begin());
  machine.parts.push_back(*found);
  return PartId(machine.parts.size() - 1);
}

}  // namespace lanewise
