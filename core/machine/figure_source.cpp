#include "core/machine/figure_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/io/spelling.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 3> kSourceKindNames{"datasheet", "measured", "estimated"};

std::optional<FigureSource> read_source(YamlNode::Entry const& entry, MapReader const& sources) {
  if (entry.value.kind != YamlKind::Map) {
    sources.fail(entry.value, fmt::format("'{}': write {{KIND: \"TEXT\"}} with one of {}", entry.key,
                                          fmt::join(kSourceKindNames, ", ")));
    return std::nullopt;
  }
  MapReader reader(entry.value, figure_source_spec(), sources.source(), sources.diagnostics());
  std::optional<FigureSource> found;
  for (std::size_t i = 0; i < kSourceKindNames.size(); ++i) {
    auto text = reader.text(kSourceKindNames.at(i));
    if (!text) continue;
    if (found) {
      reader.fail_at_key(kSourceKindNames.at(i), fmt::format("'{}' rests on one kind of source", entry.key));
      continue;
    }
    found = FigureSource{entry.key, static_cast<SourceKind>(i), std::move(*text)};
  }
  if (entry.value.entries.empty())
    reader.fail(entry.value,
                fmt::format("'{}': the kind is missing; one of {}", entry.key, fmt::join(kSourceKindNames, ", ")));
  return found;
}

}  // namespace

std::string_view to_string(SourceKind kind) { return kSourceKindNames.at(static_cast<std::size_t>(kind)); }

MapSpec const& figure_source_spec() {
  static MapSpec const spec{
      "figure source",
      {text_field("datasheet", "its maker, a standard or source code says it: which document"),
       text_field("measured", "somebody read it from the device, or fitted it to what was measured on it: who"),
       text_field("estimated", "it is another part's, customary or derived with an assumption: from what")}};
  return spec;
}

std::vector<FigureSource> read_figure_sources(MapReader& reader, std::vector<std::string> const& keys,
                                              std::string_view what) {
  std::vector<FigureSource> sources;
  auto const* node = reader.custom("sources");
  if (node == nullptr) return sources;
  if (node->kind != YamlKind::Map) {
    reader.fail(*node, fmt::format("'sources': expected the {}'s keys with what they rest on", what));
    return sources;
  }
  for (auto const& entry : node->entries) {
    YamlNode at = entry.value;
    at.line = entry.line;
    at.column = entry.column;
    if (std::find(keys.begin(), keys.end(), entry.key) == keys.end()) {
      reader.fail(at, fmt::format("'sources': a {} has no key '{}'{}", what, entry.key, did_you_mean(entry.key, keys)));
      continue;
    }
    auto const* figure = reader.node(entry.key);
    if (figure == nullptr || figure->text == "unknown") {
      reader.fail(at, fmt::format("'sources': the {} gives no '{}'", what, entry.key));
      continue;
    }
    if (auto found = read_source(entry, reader)) sources.push_back(std::move(*found));
  }
  return sources;
}

}  // namespace lanewise
