#include "core/interop/machines/infragraph/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "core/interop/words.hpp"

namespace lanewise {
namespace {

// What stands in notes, and the option that names the product.
struct Wording {
  std::string_view kinds;
  std::string_view option;  // empty: no option names it
};
Wording wording_of(PartKind kind) {
  switch (kind) {
    case PartKind::Cpu: return {"the CPUs", "--cpu"};
    case PartKind::Gpu: return {"the accelerators", "--gpu"};
    case PartKind::Nic: return {"the NICs", "--nic"};
    case PartKind::Switch: return {"the PCIe switches", "--switch"};
    case PartKind::Nvme: return {"the NVMe drives", ""};
    default: return {"other devices", ""};
  }
}

bool has_word(InfraNode const& node, std::initializer_list<std::string_view> words) {
  auto const text = lower_case(node.name + " " + node.description);
  return std::any_of(words.begin(), words.end(), [&](auto word) { return text.find(word) != std::string::npos; });
}

// A switch of the generation of the link above it.
std::string switch_of(std::optional<PcieLink> link, std::string const& otherwise) {
  if (!link || link->generation < 3 || link->generation > 5) return otherwise;
  return fmt::format("pcie-switch-gen{}", link->generation);
}

std::string product(std::string_view kinds, std::string const& description) {
  return description.empty() ? fmt::format("{}, whose product the file does not name", kinds)
                             : fmt::format("{} '{}', which are no part of the catalogue", kinds, description);
}

}  // namespace

InfraParts::InfraParts(TopoOptions const& options, MachineBuilder& builder)
    : options_(options), builder_(builder), named_or_generic_(options, builder.catalogue()) {}

std::string InfraParts::part_of(InfraNode const& node, PartKind kind, std::optional<PcieLink> link) {
  auto const& named = kind == PartKind::Cpu      ? options_.cpu
                      : kind == PartKind::Gpu    ? options_.gpu
                      : kind == PartKind::Nic    ? options_.nic
                      : kind == PartKind::Switch ? options_.pcie_switch
                                                 : std::string();
  if (!named.empty()) return named;
  auto const [known, is_new] = described_.try_emplace({kind, node.description});
  if (is_new) known->second = described_part(kind, node.description);
  return known->second.empty() ? stand_in(kind, node, link) : known->second;
}

std::string InfraParts::absent_cpu() {
  auto const& part = named_or_generic_.cpu();
  if (options_.cpu.empty() && !part.empty()) builder_.note_stand_in(part, "a CPU, for the file has none", "--cpu");
  return part;
}

// The part whose name the description begins with, or whose title it is.
std::string InfraParts::described_part(PartKind kind, std::string const& description) {
  auto const word = description.substr(0, description.find_first_of(":; "));
  auto& catalogue = builder_.catalogue();
  if (auto const* part = catalogue.part(word); part != nullptr && part->kind == kind) return word;
  for (auto const& name : catalogue.part_names())
    if (auto const* part = catalogue.part(name);
        part->kind == kind && !part->title.empty() && part->title == description)
      return name;
  return {};
}

// Generic accelerators are NVIDIA's or AMD's: each has what its maker's drivers allow.
std::string InfraParts::generic_accelerator(InfraNode const& node) {
  if (has_word(node, {"amd", "instinct", "radeon", "mi50", "mi60", "mi100", "mi2", "mi3"}))
    return builder_.generic_gpu_of("amd");
  bool const other = has_word(node, {"intel", "gaudi", "habana", "google", "tpu", "trainium", "inferentia", "ascend"});
  return other ? std::string() : named_or_generic_.gpu();
}

std::string InfraParts::stand_in(PartKind kind, InfraNode const& node, std::optional<PcieLink> link) {
  auto const [kinds, option] = wording_of(kind);
  std::string part;
  switch (kind) {
    case PartKind::Cpu: part = named_or_generic_.cpu(); break;
    case PartKind::Gpu: part = generic_accelerator(node); break;
    case PartKind::Nic: part = named_or_generic_.nic(); break;
    case PartKind::Switch: part = switch_of(link, named_or_generic_.pcie_switch()); break;
    default: break;
  }
  if (part.empty())
    note_unknown(kinds, node.description, option);
  else
    builder_.note_stand_in(part, product(kinds, node.description), option);
  return part;
}

void InfraParts::note_unknown(std::string_view kinds, std::string const& description, std::string_view option) {
  builder_.note(option.empty() ? fmt::format("{}; left unknown", product(kinds, description))
                               : fmt::format("missing: {}; {} names it", product(kinds, description), option));
}

}  // namespace lanewise
