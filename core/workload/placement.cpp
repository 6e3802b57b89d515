#include "core/workload/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "core/machine/device_order.hpp"
#include "core/machine/node_kinds.hpp"
#include "core/machine/nvlink_domains.hpp"
#include "core/machine/path_class.hpp"
#include "core/machine/place_index.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

std::vector<Place> places_named(std::vector<std::string> const& names, Workload const& workload,
                                Machine const& machine) {
  PlaceIndex const index(machine);
  std::vector<Place> places;
  std::set<Place> seen;
  auto const add = [&](Place const& place, std::string const& name) {
    if (machine.is_off(place)) refuse_at(workload.pos, fmt::format("workload: '{}' is off", name));
    if (!seen.insert(place).second) refuse_at(workload.pos, fmt::format("workload: '{}' has two ranks", name));
    places.push_back(place);
  };
  std::map<std::string, std::vector<PciId>> of_node;
  if (machine.hosts.size() > 1)
    for (auto const gpu : all_in_number_order(machine, PciKind::Gpu))
      of_node[machine.at(machine.host_of(gpu)).name].push_back(gpu);
  for (auto const& name : names) {
    if (auto const node = of_node.find(name); node != of_node.end()) {
      for (auto const gpu : node->second) add(gpu, machine.at(gpu).name);
      continue;
    }
    Place place;
    try {
      place = index.place(name);
    } catch (InputError const& error) {
      refuse_at(workload.pos, fmt::format("workload: {}", error.what()));
    }
    if (!gpu_at(machine, place)) refuse_at(workload.pos, fmt::format("workload: '{}' is no GPU", name));
    add(place, name);
  }
  return places;
}

// "16 ranks (tp 8 x cp 1 x pp 1 x dp 2)".
std::string ranks_words(Workload const& workload) {
  auto const& p = workload.parallel;
  if (workload.trace) return fmt::format("{} ranks", p.ranks());
  return fmt::format("{} ranks (tp {} x cp {} x pp {} x dp {})", p.ranks(), p.tp, p.cp, p.pp, p.dp);
}

bool share_nvlink(Machine const& machine, PciId a, PciId b) { return nvlink_count(machine, a, b) > 0; }

enum class Reach : std::uint8_t { Nvlink, Switch, Socket, Node, Rack, Rail, Network };

Reach reach_between(Machine const& machine, PciId a, PciId b) {
  bool const one_host = machine.host_of(a) == machine.host_of(b);
  if (share_nvlink(machine, a, b)) return one_host ? Reach::Nvlink : Reach::Rack;
  if (!one_host) return short_name(machine.at(a).name) == short_name(machine.at(b).name) ? Reach::Rail : Reach::Network;
  switch (path_class(machine, a, b)) {
    case PathClass::Self:
    case PathClass::Pix:
    case PathClass::Pxb: return Reach::Switch;
    case PathClass::Phb:
    case PathClass::Node: return Reach::Socket;
    case PathClass::Sys:
    case PathClass::Network: return Reach::Node;
  }
  return Reach::Node;
}

}  // namespace

Placement place_ranks(Workload const& workload, Machine const& machine) {
  Placement placement;
  placement.decode = places_named(workload.decode, workload, machine);
  if (!workload.ranks.empty()) {
    placement.ranks = places_named(workload.ranks, workload, machine);
    auto const& p = workload.parallel;
    if (placement.ranks.size() != static_cast<std::size_t>(p.ranks()))
      refuse_at(workload.pos, fmt::format("workload: {} GPUs for {}", placement.ranks.size(), ranks_words(workload)));
  } else {
    for (auto const gpu : all_in_number_order(machine, PciKind::Gpu))
      if (!machine.is_off(gpu)) placement.ranks.emplace_back(gpu);
    auto const needed = static_cast<std::size_t>(workload.parallel.ranks());
    if (placement.ranks.size() < needed) {
      refuse_at(workload.pos, fmt::format("workload: {}, and {} has {} GPUs that work", ranks_words(workload),
                                          machine.name, placement.ranks.size()));
    }
    placement.ranks.resize(needed);
  }
  for (auto const& place : placement.decode)
    if (std::find(placement.ranks.begin(), placement.ranks.end(), place) != placement.ranks.end())
      refuse_at(workload.pos,
                fmt::format("workload: '{}' prefills and decodes; the cache would not move", machine.name_of(place)));
  return placement;
}

std::string reach_of(Machine const& machine, std::vector<Place> const& group) {
  auto furthest = Reach::Nvlink;
  bool leaves_rail = false;
  for (std::size_t i = 0; i + 1 < group.size(); ++i) {
    auto const a = gpu_at(machine, group[i]);
    auto const b = gpu_at(machine, group[i + 1]);
    if (!a || !b) continue;
    auto const reach = reach_between(machine, *a, *b);
    leaves_rail = leaves_rail || short_name(machine.at(*a).name) != short_name(machine.at(*b).name);
    furthest = std::max(furthest, reach);
  }
  if (furthest == Reach::Rail && leaves_rail) furthest = Reach::Network;
  constexpr std::array<std::string_view, 7> kNames{"NVLink", "switch", "socket", "node", "rack", "rail", "network"};
  return std::string(kNames.at(static_cast<std::size_t>(furthest)));
}

std::vector<std::vector<Place>> distinct_groups(Machine const& machine, std::vector<std::vector<Place>> const& groups) {
  if (machine.hosts.size() == 1) return groups;
  auto const stay_in = [&](auto const& home) {
    return std::all_of(groups.begin(), groups.end(), [&](auto const& group) {
      return std::all_of(group.begin(), group.end(),
                         [&](Place const& place) { return home(place) == home(group.front()); });
    });
  };
  if (!stay_in([&](Place const& place) { return machine.host_of(place); })) {
    // Racks are taken to be alike: the one with most groups stands for all.
    auto const first_nodes = first_nodes_of_domains(machine);
    auto const rack_of = [&](Place const& place) { return first_nodes[index(machine.host_of(place))]; };
    if (!stay_in(rack_of)) return groups;
    std::map<HostId, std::vector<std::vector<Place>>> by_rack;
    for (auto const& group : groups) by_rack[rack_of(group.front())].push_back(group);
    auto const fullest = std::max_element(
        by_rack.begin(), by_rack.end(), [](auto const& a, auto const& b) { return a.second.size() < b.second.size(); });
    return fullest->second;
  }
  // The groups of each node, as names inside it.
  std::map<HostId, std::vector<std::vector<Place>>> by_host;
  for (auto const& group : groups) by_host[machine.host_of(group.front())].push_back(group);
  std::map<HostId, std::size_t> kind_of;
  auto const kinds = node_kinds(machine);
  for (std::size_t i = 0; i < kinds.size(); ++i)
    for (auto const host : kinds[i].hosts) kind_of[host] = i;
  std::set<std::pair<std::size_t, std::string>> seen;
  std::vector<std::vector<Place>> kept;
  for (auto const& [host, own] : by_host) {
    std::string names;
    for (auto const& group : own) {
      for (auto const& place : group) names += std::string(short_name(machine.name_of(place))) + ",";
      names += ";";
    }
    if (seen.emplace(kind_of.at(host), names).second) kept.insert(kept.end(), own.begin(), own.end());
  }
  return kept;
}

}  // namespace lanewise
