#include "lanewise/machine/part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/io/spelling.hpp"
#include "core/machine/figure_source.hpp"
#include "core/machine/part_fields.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 9> kPartKindNames{"cpu",    "gpu",  "nic",      "switch",        "nvme",
                                                         "device", "link", "nvswitch", "network_switch"};

}  // namespace

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
                             .map = &figure_source_spec(),
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
  std::vector<std::string> keys;
  for (auto const& field : part_fields(part.kind)) keys.push_back(field.spec.name);
  part.sources = read_figure_sources(reader, keys, to_string(part.kind));
  return part;
}

}  // namespace lanewise
