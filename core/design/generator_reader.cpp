#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/design/generator.hpp"
#include "core/io/word.hpp"
#include "core/machine/setting_list.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 4> kShapes{"direct", "flat", "dual_root", "cascaded"};
constexpr std::array<std::string_view, 4> kLinks{"none", "switch", "pairs", "mesh"};
constexpr std::array<std::string_view, 2> kNicPlaces{"switch", "socket"};
constexpr std::array<std::string_view, 2> kYesNo{"no", "yes"};

template <std::size_t N>
std::vector<std::string> words(std::array<std::string_view, N> const& names) {
  return {names.begin(), names.end()};
}

FieldSpec list_field(std::string name, ValueType item, std::string doc, std::vector<std::string> words = {}) {
  return {
      .name = std::move(name), .type = ValueType::List, .doc = std::move(doc), .words = std::move(words), .item = item};
}

FieldSpec required(FieldSpec field) {
  field.required = true;
  return field;
}

// The words of a list as enumerators; `absent` where the key is.
template <class T, std::size_t N>
std::vector<T> words_of(MapReader& reader, std::string_view key, std::array<std::string_view, N> const& names,
                        std::vector<T> absent) {
  if (!reader.has(key)) return absent;
  std::vector<T> chosen;
  for (auto const* item : reader.items(key)) {
    auto const word = parse_word<T>(item->text, names, fmt::format("a choice of '{}'", key));
    if (word.value)
      chosen.push_back(*word.value);
    else
      reader.fail(*item, word.problem);
  }
  return chosen;
}

std::vector<int> counts_of(MapReader& reader, std::string_view key, int least, int most, std::vector<int> absent) {
  if (!reader.has(key)) return absent;
  std::vector<int> chosen;
  for (auto const* item : reader.items(key)) {
    if (auto const number = whole_number_in(*item, least, most))
      chosen.push_back(*number);
    else
      reader.fail(*item, fmt::format("'{}': '{}' is no whole number from {} to {}", key, item->text, least, most));
  }
  return chosen;
}

}  // namespace

std::string_view to_string(PcieShape shape) { return kShapes[static_cast<std::size_t>(shape)]; }
std::string_view to_string(GpuLinks links) { return kLinks[static_cast<std::size_t>(links)]; }
std::string_view to_string(NicPlace place) { return kNicPlaces[static_cast<std::size_t>(place)]; }

MapSpec const& generator_spec() {
  static MapSpec const spec{
      "generate",
      {required(list_field("gpu", ValueType::Id, "GPUs, by part")),
       required(list_field("gpus", ValueType::Count, "how many GPUs a server has")),
       list_field("gpu_links", ValueType::Word,
                  "between GPUs of a server: switch (NVSwitch), pairs (bridges), mesh (each with each), none; "
                  "required for GPUs with NVLink",
                  words(kLinks)),
       text_field("gpu_link_part", "of a mesh: the link; NVLink of the GPU's generation when absent"),
       required(list_field("cpu", ValueType::Id, "CPUs, by part")),
       list_field("sockets", ValueType::Count, "how many CPUs a server has; 2 when absent"),
       list_field("pcie", ValueType::Word,
                  "direct: a root port a GPU; flat: switches below the first socket; dual_root: switches divided over "
                  "the sockets; cascaded: one switch below the first socket, others below it; direct when absent, "
                  "with 'switch' all of them",
                  words(kShapes)),
       list_field("switch", ValueType::Id, "PCIe switches, by part"),
       list_field("switches", ValueType::Count, "how many of them with GPUs a server has; 1, 2, 4 when absent"),
       list_field("nic", ValueType::Id, "NICs, by part"),
       list_field("nics", ValueType::Count, "how many NICs a server has; as many as GPUs when absent"),
       list_field("nics_at", ValueType::Word, "below the switches, or root ports of the sockets; both when absent",
                  words(kNicPlaces)),
       list_field("nodes", ValueType::Count, "how many servers; 1 when absent"),
       list_field("network_switch", ValueType::Id, "switches between servers, by part"),
       list_field("rails", ValueType::Word, "whether NICs of one number have switches of their own; yes when absent",
                  words(kYesNo)),
       list_field("tiers", ValueType::Count, "of network switches, 1 to 3; 1 when absent"),
       list_field("oversubscription", ValueType::Count,
                  "cables down over cables up, of the lowest tier; 1 when absent"),
       settings_field("set")}};
  return spec;
}

CandidateGenerator read_generator(MapReader& reader) {
  CandidateGenerator generator;
  generator.pos = reader.source().whole();
  generator.pos.line = reader.self().line;
  generator.pos.column = reader.self().column;
  generator.gpu = reader.texts("gpu");
  generator.gpus = counts_of(reader, "gpus", 1, 64, {});
  generator.links = words_of<GpuLinks>(reader, "gpu_links", kLinks, {});
  generator.link_part = reader.text("gpu_link_part").value_or("");
  generator.cpu = reader.texts("cpu");
  generator.sockets = counts_of(reader, "sockets", 1, 8, {2});
  generator.pcie_switch = reader.texts("switch");
  std::vector<PcieShape> all{PcieShape::Direct};
  if (!generator.pcie_switch.empty())
    all = {PcieShape::Direct, PcieShape::Flat, PcieShape::DualRoot, PcieShape::Cascaded};
  generator.shapes = words_of<PcieShape>(reader, "pcie", kShapes, all);
  generator.switches = counts_of(reader, "switches", 1, 32, {1, 2, 4});
  generator.nic = reader.texts("nic");
  generator.nics = counts_of(reader, "nics", 0, 64, {});
  generator.nics_at = words_of<NicPlace>(reader, "nics_at", kNicPlaces, {NicPlace::Switch, NicPlace::Socket});
  generator.nodes = counts_of(reader, "nodes", 1, 16'384, {1});
  generator.network_switch = reader.texts("network_switch");
  for (auto const rail : words_of<int>(reader, "rails", kYesNo, {1})) generator.rails.push_back(rail == 1);
  generator.tiers = counts_of(reader, "tiers", 1, 3, {1});
  generator.oversubscription = counts_of(reader, "oversubscription", 1, 64, {1});
  generator.settings = read_settings(reader, "set");
  auto const needs = [&](std::string_view key, bool is_missing, std::string const& why) {
    if (is_missing) reader.fail_at_key(key, fmt::format("'{}' is missing: {}", key, why));
  };
  bool const has_switches = std::any_of(generator.shapes.begin(), generator.shapes.end(),
                                        [](PcieShape shape) { return shape != PcieShape::Direct; });
  needs("switch", has_switches && generator.pcie_switch.empty(), "which PCIe switch");
  bool const has_nodes =
      std::any_of(generator.nodes.begin(), generator.nodes.end(), [](int nodes) { return nodes > 1; });
  needs("network_switch", has_nodes && generator.network_switch.empty(), "which switch joins the servers");
  needs("nic", has_nodes && generator.nic.empty(), "which NIC joins the servers");
  return generator;
}

}  // namespace lanewise
