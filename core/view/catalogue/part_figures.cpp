#include "core/view/catalogue/part_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/machine/part_fields.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

// A figure with the words that tell it from the part's others: "96 lanes", "NVLink x18".
std::string with_words(std::string const& key, std::string const& value) {
  if (key == "lanes") return value + " lanes";
  if (key == "cores") return value + " cores";
  if (key == "root_port_generation") return "PCIe gen" + value;
  if (key == "nvlink_ports") return "NVLink x" + value;
  if (key == "ports") return value + " ports";
  if (key == "fp16_rate") return value + " fp16";
  if (key == "read_bandwidth") return "reads " + value;
  if (key == "write_bandwidth") return "writes " + value;
  if (key == "latency") return value + " a pass";
  return value;
}

// Rates of networks are said in bits.
bool is_of_network(Part const& part) {
  return part.kind == PartKind::Nic || part.kind == PartKind::NetworkSwitch ||
         (part.kind == PartKind::Link && part.link.family == LinkFamily::Network);
}

}  // namespace

std::string in_gigabits(BytesPerSecond rate) { return fmt::format("{:g} Gb/s", rate.value() * 8 / 1e9); }

std::vector<PartFigure> figures_of(Part const& part) {
  std::vector<PartFigure> figures;
  for (auto const& field : part_fields(part.kind)) {
    if (field.spec.name == "title") continue;
    auto const* source = part.source_of(field.spec.name);
    auto const texts = source != nullptr ? field.value(part) : field.write(part);
    if (texts.empty()) continue;
    auto value = fmt::format("{}", fmt::join(texts, ", "));
    if (field.spec.name == "rate" && is_of_network(part)) value = in_gigabits(parse_rate(value).value.value());
    figures.push_back({field.spec.name, std::move(value), source, field.spec.doc});
  }
  return figures;
}

PartFigure const* figure_named(std::string_view key, std::vector<PartFigure> const& figures) {
  auto const found =
      std::find_if(figures.begin(), figures.end(), [&](auto const& figure) { return figure.key == key; });
  return found == figures.end() ? nullptr : &*found;
}

std::vector<std::string> const& key_figures(PartKind kind) {
  static std::array<std::vector<std::string>, 9> const keys{{
      {"cores", "root_port_generation", "lanes", "memory_bandwidth", "power"},       // cpu
      {"memory", "memory_bandwidth", "link", "nvlink_ports", "fp16_rate", "power"},  // gpu
      {"rate", "link_layer", "link", "power"},                                       // nic
      {"link", "lanes", "latency", "power"},                                         // switch
      {"link", "read_bandwidth", "write_bandwidth", "power"},                        // nvme
      {"link"},                                                                      // device
      {"family", "rate"},                                                            // link
      {"ports", "rate", "latency"},                                                  // nvswitch
      {"ports", "rate", "latency", "power"},                                         // network_switch
  }};
  return keys.at(static_cast<std::size_t>(kind));
}

std::string key_figures_words(Part const& part) {
  auto const figures = figures_of(part);
  std::vector<std::string> words;
  for (auto const& key : key_figures(part.kind))
    if (auto const* figure = figure_named(key, figures)) words.push_back(with_words(key, figure->value));
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace lanewise
