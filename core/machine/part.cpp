#include "lanewise/machine/part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/io/spelling.hpp"
#include "core/machine/part_fields.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 9> kPartKindNames{"cpu",    "gpu",  "nic",      "switch",        "nvme",
                                                         "device", "link", "nvswitch", "network_switch"};

constexpr std::array<std::string_view, 3> kSourceKindNames{"datasheet", "measured", "estimated"};

// What one figure rests on: one of the three keys.
MapSpec const& source_spec() {
  static MapSpec const spec{
      "figure source",
      {text_field("datasheet", "its maker, a standard or source code says it: which document"),
       text_field("measured", "somebody read it from the device, or fitted it to what was measured on it: who"),
       text_field("estimated", "it is another part's, customary or derived with an assumption: from what")}};
  return spec;
}

// Checks one entry of `sources`, whose figure this kind of part has.
std::optional<FigureSource> read_source(YamlNode::Entry const& entry, SourceText const& source,
                                        Diagnostics& diagnostics) {
  if (entry.value.kind != YamlKind::Map) {
    diagnostics.add(
        {source.name(), entry.value.line, entry.value.column},
        fmt::format("'{}': write {{KIND: \"TEXT\"}} with one of {}", entry.key, fmt::join(kSourceKindNames, ", ")),
        source.line(entry.value.line));
    return std::nullopt;
  }
  MapReader reader(entry.value, source_spec(), source, diagnostics);
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

// Reads `sources`: figures of the part to what they rest on.
void read_sources(Part& part, YamlNode const& part_node, MapReader& reader) {
  auto const* node = reader.custom("sources");
  if (node == nullptr) return;
  if (node->kind != YamlKind::Map)
    return reader.fail(*node, "'sources': expected the part's keys with what they rest on");
  std::vector<std::string> known;
  for (auto const& field : part_fields(part.kind)) known.push_back(field.spec.name);
  for (auto const& entry : node->entries) {
    YamlNode at = entry.value;
    at.line = entry.line;
    at.column = entry.column;
    if (std::find(known.begin(), known.end(), entry.key) == known.end()) {
      reader.fail(at, fmt::format("'sources': a {} has no key '{}'{}", to_string(part.kind), entry.key,
                                  did_you_mean(entry.key, known)));
      continue;
    }
    auto const* figure = part_node.find(entry.key);
    if (figure == nullptr || figure->text == "unknown") {
      reader.fail(at, fmt::format("'sources': the part gives no '{}'", entry.key));
      continue;
    }
    if (auto found = read_source(entry, reader.source(), reader.diagnostics()))
      part.sources.push_back(std::move(*found));
  }
}

}  // namespace

std::string_view to_string(SourceKind kind) { return kSourceKindNames.at(static_cast<std::size_t>(kind)); }

FigureSource const* Part::source_of(std::string_view figure) const {
  auto const found =
      std::find_if(sources.begin(), sources.end(), [&](FigureSource const& source) { return source.figure == figure; });
  return found == sources.end() ? nullptr : &*found;
}

void Part::forget_source(std::string_view figure) {
  std::erase_if(sources, [&](FigureSource const& source) { return source.figure == figure; });
}

std::string_view to_string(PartKind kind) { return kPartKindNames.at(static_cast<std::size_t>(kind)); }

MapSpec const& part_spec(PartKind kind) {
  static auto const specs = [] {
    std::vector<MapSpec> made;
    for (std::size_t i = 0; i < kPartKindNames.size(); ++i) {
      auto const of_kind = static_cast<PartKind>(i);
      MapSpec spec{fmt::format("{} part", kPartKindNames[i]), {}};
      spec.fields.push_back({.name = "lanewise", .type = ValueType::Word, .doc = "part/1", .words = {"part/1"}});
      spec.fields.push_back({.name = "part", .type = ValueType::Id, .doc = "the name that machine files use"});
      spec.fields.push_back({.name = "kind",
                             .type = ValueType::Word,
                             .doc = "what it is",
                             .required = true,
                             .words = {std::string(kPartKindNames[i])}});
      for (auto const& field : part_fields(of_kind)) spec.fields.push_back(field.spec);
      spec.fields.push_back({.name = "sources",
                             .type = ValueType::Dictionary,
                             .doc = "what the figures rest on, by key",
                             .map = &source_spec(),
                             .item = ValueType::Map});
      made.push_back(std::move(spec));
    }
    return made;
  }();
  return specs.at(static_cast<std::size_t>(kind));
}

Part read_part(std::string name, YamlNode const& node, SourceText const& source, Diagnostics& diagnostics) {
  Part part;
  part.name = std::move(name);
  auto const* kind = node.find("kind");
  auto const found =
      kind == nullptr ? kPartKindNames.end() : std::find(kPartKindNames.begin(), kPartKindNames.end(), kind->text);
  if (found == kPartKindNames.end()) {
    auto const& at = kind == nullptr ? node : *kind;
    std::vector<std::string> const names(kPartKindNames.begin(), kPartKindNames.end());
    diagnostics.add(
        {source.name(), at.line, at.column},
        kind == nullptr
            ? fmt::format("part '{}': the key 'kind' is missing; allowed: {}", part.name, fmt::join(names, ", "))
            : fmt::format("part '{}': kind '{}' is not known{} allowed: {}", part.name, kind->text,
                          did_you_mean_first(kind->text, names), fmt::join(names, ", ")),
        source.line(at.line));
    return part;
  }
  part.kind = static_cast<PartKind>(found - kPartKindNames.begin());
  MapReader reader(node, part_spec(part.kind), source, diagnostics);
  for (auto const& field : part_fields(part.kind)) field.read(part, reader);
  read_sources(part, node, reader);
  return part;
}

}  // namespace lanewise
