#include "core/interop/exports/hwloc_distances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lanewise {
namespace {

// MB/s in each direction from one of the objects to another.
using Rates = std::map<std::pair<std::size_t, std::size_t>, std::uint64_t>;
Rates link_rates(Machine const& machine, HwlocLinkEnds const& ends) {
  constexpr double kBytesPerMegabyte = 1e6;
  Rates rates;
  auto const add = [&](std::size_t a, std::size_t b, PartId part, int count) {
    auto const rate = machine.at(part).link.rate;
    if (!rate) return;
    auto const value = static_cast<std::uint64_t>(rate->value() * count / kBytesPerMegabyte);
    rates[{a, b}] += value;
    rates[{b, a}] += value;
  };
  for (auto const& bundle : machine.nvlinks) {
    auto const* a = std::get_if<PciId>(&bundle.a);
    auto const* b = std::get_if<PciId>(&bundle.b);
    if (a != nullptr && b != nullptr) add(ends.gpus.at(*a), ends.gpus.at(*b), bundle.part, bundle.count);
  }
  for (auto const& domain : machine.nvswitches)
    for (auto const& port : domain.ports) add(ends.gpus.at(port.gpu), ends.nvswitch, domain.link_part, port.count);
  return rates;
}

bool is_xgmi(Machine const& machine) {
  return std::any_of(machine.nvlinks.begin(), machine.nvlinks.end(), [&](NvlinkBundle const& bundle) {
    return machine.at(bundle.part).link.family == LinkFamily::GpuXgmi;
  });
}

// Ten values a line; `length` is that of the text.
void add_chunks(pugi::xml_node node, char const* name, std::vector<std::string> const& values) {
  constexpr std::size_t kChunk = 10;
  for (std::size_t first = 0; first < values.size(); first += kChunk) {
    std::string text;
    for (auto i = first; i < std::min(first + kChunk, values.size()); ++i) text += values[i] + " ";
    auto chunk = node.append_child(name);
    chunk.append_attribute("length") = static_cast<unsigned>(text.size());
    chunk.text() = text.c_str();
  }
}

}  // namespace

void add_hwloc_distances(Machine const& machine, HwlocLinkEnds const& ends, pugi::xml_node topology) {
  auto const rates = link_rates(machine, ends);
  if (rates.empty()) return;
  constexpr int kFromSystem = 1;
  constexpr int kBandwidth = 8;
  constexpr int kHeterogeneous = 16;
  std::vector<std::size_t> objects;
  for (auto const& [id, number] : ends.gpus) objects.push_back(number);
  if (ends.nvswitch != 0) objects.push_back(ends.nvswitch);
  bool const mixed = ends.nvswitch != 0;
  auto node = topology.append_child(mixed ? "distances2hetero" : "distances2");
  if (!mixed) node.append_attribute("type") = "OSDev";
  node.append_attribute("nbobjs") = static_cast<unsigned>(objects.size());
  node.append_attribute("kind") = kFromSystem | kBandwidth | (mixed ? kHeterogeneous : 0);
  node.append_attribute("name") = is_xgmi(machine) ? "XGMIBandwidth" : "NVLinkBandwidth";
  if (!mixed) node.append_attribute("indexing") = "gp";
  std::vector<std::string> names;
  std::vector<std::string> values;
  for (auto const a : objects) {
    names.push_back(mixed ? fmt::format("{}:{}", a == ends.nvswitch ? "PCIDev" : "OSDev", a) : std::to_string(a));
    for (auto const b : objects) {
      auto const found = rates.find({a, b});
      values.push_back(std::to_string(found == rates.end() ? 0 : found->second));
    }
  }
  add_chunks(node, "indexes", names);
  add_chunks(node, "u64values", values);
}

}  // namespace lanewise
