#include "core/machine/settings_reader.hpp"

#include <fmt/format.h>

#include "core/machine/machine_file.hpp"

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
  if (auto const kind = reader.text("kind")) virtualization.passthrough = *kind == "passthrough";
  if (auto const hypervisor = reader.text("hypervisor")) virtualization.hypervisor = *hypervisor;
  if (auto const approval = reader.flag("approval")) virtualization.approval = *approval;
  if (auto const ats = reader.flag("ats")) virtualization.ats = *ats;
  if (reader.has("clique")) virtualization.cliques = {clique_of(reader, *reader.node("clique"))};
  for (auto const* clique : reader.items("cliques")) virtualization.cliques.push_back(clique_of(reader, *clique));
}

}  // namespace

std::optional<AcsControl> read_acs(MapReader& reader, std::string_view key) {
  auto const* node = reader.custom(key);
  if (node == nullptr) return std::nullopt;
  std::string text = node->text;
  if (node->kind == YamlKind::Sequence)
    for (auto const& item : node->items) text += (text.empty() ? "" : ",") + item.text;
  auto const parsed = parse_acs(text);
  if (!parsed.value) reader.fail(*node, fmt::format("'{}': {}", key, parsed.problem));
  return parsed.value;
}

void read_settings(MapReader& reader, Settings& settings) {
  if (auto const acs = read_acs(reader, "acs")) settings.acs = *acs;
  if (auto const text = reader.text("iommu")) {
    auto const mode = parse_iommu(*text);
    if (mode.value)
      settings.iommu = *mode.value;
    else
      reader.fail(*reader.node("iommu"), "'iommu': " + mode.problem);
  }
  if (auto const page = reader.size("iommu_page")) {
    if (*page == Bytes(0)) reader.fail(*reader.node("iommu_page"), "'iommu_page': a page has more than 0 bytes");
    settings.iommu_page = *page;
  }
  if (auto const* node = reader.custom("virtualization")) read_virtualization(reader, *node, settings.virtualization);
}

void read_software(MapReader& reader, Software& software) {
  auto const take = [&](std::string_view key, bool& member) {
    if (auto const value = reader.flag(key)) member = *value;
  };
  take("cuda", software.cuda);
  take("peermem", software.peermem);
  take("dma_buf", software.dma_buf);
  take("gdrcopy", software.gdrcopy);
  take("gpudirect_storage", software.gpudirect_storage);
  take("fabric_manager", software.fabric_manager);
  take("gpudirect_async", software.gpudirect_async);
  take("geforce_peer", software.geforce_peer);
}

}  // namespace lanewise
