#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

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

FieldSpec list_of_words(std::string name, std::vector<std::string> allowed, std::string doc) {
  return {.name = std::move(name),
          .type = ValueType::List,
          .doc = std::move(doc),
          .words = std::move(allowed),
          .item = ValueType::Word};
}

FieldSpec list_of_parts(std::string name, std::string doc, bool required = false) {
  return {.name = std::move(name),
          .type = ValueType::List,
          .doc = std::move(doc),
          .required = required,
          .item = ValueType::Id};
}

FieldSpec list_of_counts(std::string name, std::string doc, bool required = false) {
  return {.name = std::move(name),
          .type = ValueType::List,
          .doc = std::move(doc),
          .required = required,
          .item = ValueType::Count};
}

// The words of a list as enumerators; `absent` where the key is.
template <class T, std::size_t N>
std::vector<T> words_of(MapReader& reader, std::string_view key, std::array<std::string_view, N> const& names,
                        std::vector<T> absent) {
  if (!reader.has(key)) return absent;
  std::vector<T> chosen;
  for (auto const* item : reader.items(key)) {
    auto const found = std::find(names.begin(), names.end(), item->text);
    if (found != names.end())
      chosen.push_back(static_cast<T>(found - names.begin()));
    else
      reader.fail(*item, fmt::format("'{}': '{}' is none of {}{}", key, item->text, fmt::join(names, ", "),
                                     did_you_mean(item->text, words(names))));
  }
  return chosen;
}

std::vector<int> counts_of(MapReader& reader, std::string_view key, int least, int most, std::vector<int> absent) {
  if (!reader.has(key)) return absent;
  std::vector<int> chosen;
  for (auto const* item : reader.items(key)) {
    int value = 0;
    auto const* const end = item->text.data() + item->text.size();
    auto const [stop, error] = std::from_chars(item->text.data(), end, value);
    if (error != std::errc() || stop != end || value < least || value > most)
      reader.fail(*item, fmt::format("'{}': '{}' is no whole number from {} to {}", key, item->text, least, most));
    else
      chosen.push_back(value);
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
      {list_of_parts("gpu", "GPUs, by part", true), list_of_counts("gpus", "how many GPUs a server has", true),
       list_of_words("gpu_links", words(kLinks),
                     "between GPUs of a server: switch (NVSwitch), pairs (bridges), mesh (each with each), none; "
                     "required for GPUs with NVLink"),
       text_field("gpu_link_part", "of a mesh: the link; NVLink of the GPU's generation when absent"),
       list_of_parts("cpu", "CPUs, by part", true),
       list_of_counts("sockets", "how many CPUs a server has; 2 when absent"),
       list_of_words(
           "pcie", words(kShapes),
           "direct: a root port a GPU; flat: switches below the first socket; dual_root: switches divided over "
           "the sockets; cascaded: one switch below the first socket, others below it; direct when absent, "
           "with 'switch' all of them"),
       list_of_parts("switch", "PCIe switches, by part"),
       list_of_counts("switches", "how many of them with GPUs a server has; 1, 2, 4 when absent"),
       list_of_parts("nic", "NICs, by part"),
       list_of_counts("nics", "how many NICs a server has; as many as GPUs when absent"),
       list_of_words("nics_at", words(kNicPlaces),
                     "below the switches, or root ports of the sockets; both when absent"),
       list_of_counts("nodes", "how many servers; 1 when absent"),
       list_of_parts("network_switch", "switches between servers, by part"),
       list_of_words("rails", words(kYesNo), "whether NICs of one number have switches of their own; yes when absent"),
       list_of_counts("tiers", "of network switches, 1 to 3; 1 when absent"),
       list_of_counts("oversubscription", "cables down over cables up, of the lowest tier; 1 when absent"),
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
