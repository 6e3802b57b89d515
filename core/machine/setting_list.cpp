#include "core/machine/setting_list.hpp"

namespace lanewise {
namespace {

std::string joined(YamlNode const& node) {
  if (node.kind != YamlKind::Sequence) return node.text;
  std::string all;
  for (auto const& item : node.items) all += (all.empty() ? "" : ",") + item.text;
  return all;
}

}  // namespace

FieldSpec settings_field(std::string name) {
  return {.name = std::move(name),
          .type = ValueType::Dictionary,
          .doc = "settings as --set takes them: acs, iommu, link@NAME, part@NAME, ...",
          .item = ValueType::Custom};
}

std::vector<Setting> read_settings(MapReader& reader, std::string_view key) {
  std::vector<Setting> found;
  auto const* node = reader.custom(key);
  if (node == nullptr) return found;
  if (node->kind != YamlKind::Map) {
    reader.fail(*node, "'" + std::string(key) + "': expected a mapping, such as {acs: on}");
    return found;
  }
  for (auto const& entry : node->entries) {
    if (entry.value.kind == YamlKind::Map)
      for (auto const& inner : entry.value.entries) found.push_back({entry.key + "." + inner.key, joined(inner.value)});
    else
      found.push_back({entry.key, joined(entry.value)});
  }
  return found;
}

}  // namespace lanewise
