#include "core/machine/files/settings_reader.hpp"

#include <fmt/format.h>

#include "core/machine/files/machine_spec.hpp"
#include "core/machine/machine_fields.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise {
namespace {

std::vector<std::string> clique_of(MapReader& reader, YamlNode const& node) {
  std::vector<std::string> members;
  if (node.kind != YamlKind::Sequence) {
    reader.fail(node, "a clique is a list of GPUs, such as [gpu0, gpu1] or [gpu0..gpu3]");
    return members;
  }
  for (auto const& item : node.items) {
    try {
      for (auto& name : expand_range(item.text)) members.push_back(std::move(name));
    } catch (InputError const& error) {
      reader.fail(item, error.what());
    }
  }
  return members;
}

void read_virtualization(MapReader& outer, YamlNode const& node, Virtualization& virtualization) {
  if (node.kind == YamlKind::Scalar) {
    if (node.text == "none")
      virtualization = {};
    else if (node.text == "passthrough")
      virtualization.passthrough = true;
    else
      outer.fail(node, fmt::format("'virtualization': '{}' is not known; allowed: none, passthrough, or a mapping",
                                   node.text));
    return;
  }
  MapReader reader(node, virtualization_spec(), outer.source(), outer.diagnostics());
  for (auto const& field : virtualization_fields()) field.read(virtualization, reader);
  if (reader.has("clique")) virtualization.cliques = {clique_of(reader, *reader.node("clique"))};
  for (auto const* clique : reader.items("cliques")) virtualization.cliques.push_back(clique_of(reader, *clique));
}

}  // namespace

void read_settings(MapReader& reader, Settings& settings) {
  for (auto const& field : settings_fields()) field.read(settings, reader);
  if (auto const* node = reader.custom("virtualization")) read_virtualization(reader, *node, settings.virtualization);
}

void read_software(MapReader& reader, Software& software) {
  for (auto const& field : software_fields()) field.read(software, reader);
}

}  // namespace lanewise
