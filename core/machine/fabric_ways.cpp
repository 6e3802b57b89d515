#include "core/machine/fabric_ways.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace lanewise {

bool are_joined(Fabric const& fabric, std::uint32_t a, std::uint32_t b) {
  std::vector<bool> reached(fabric.switches.size(), false);
  reached[a] = true;
  for (bool grows = true; grows && !reached[b];) {
    grows = false;
    for (auto const& trunk : fabric.trunks) {
      if (trunk.cables == 0 || reached[trunk.lower] == reached[trunk.upper]) continue;
      reached[trunk.lower] = reached[trunk.upper] = grows = true;
    }
  }
  return reached[b];
}

bool are_joined(Machine const& machine, PciId nic, PciId other) {
  if (!machine.fabric) return false;
  auto const& fabric = *machine.fabric;
  for (auto const& a : fabric.attachments_of(nic))
    for (auto const& b : fabric.attachments_of(other)) {
      if (!are_joined(fabric, a.at, b.at)) continue;
      // A cable joins two ports, those of one rail.
      if (fabric.network_of(a.at).kind != "direct" || machine.at(nic).rail == machine.at(other).rail) return true;
    }
  return false;
}

FabricWays::FabricWays(Fabric const& fabric)
    : above_(fabric.switches.size()), parent_(fabric.switches.size()), neighbours_(fabric.switches.size()) {
  for (auto const& network : fabric.networks) {
    bool const is_torus = network.kind == "torus";
    bool const is_valiant = network.routing == Routing::Valiant;
    choices_.push_back({(network.routing == Routing::Adaptive || is_valiant) && !is_torus, is_torus, is_valiant, 1});
  }
  for (auto const& one : fabric.switches) {
    tier_.push_back(one.tier);
    network_.push_back(one.network);
    group_.push_back(one.group);
  }
  for (std::size_t i = 0; i < fabric.trunks.size(); ++i) {
    auto const& [lower, upper, cables, rate] = fabric.trunks[i];
    if (cables == 0) continue;
    auto const trunk = static_cast<std::uint32_t>(i);
    auto const weight = std::max(rate.value(), 1.0);  // of an unknown rate: any
    neighbours_[lower].push_back({upper, trunk, true, weight});
    neighbours_[upper].push_back({lower, trunk, false, weight});
    is_tree_ = is_tree_ && !above_[lower] && tier_[lower] < tier_[upper];
    above_[lower] = trunk;
    parent_[lower] = upper;
  }
  std::vector<std::uint32_t> attached(fabric.switches.size(), 0);
  for (auto const& attachment : fabric.attachments) rank_.push_back(attached[attachment.at]++);
  find_islands();
  find_weight_scales(fabric);
}

void FabricWays::find_weight_scales(Fabric const& fabric) {
  constexpr double kMaxScale = 64;
  for (std::size_t i = 0; i < choices_.size(); ++i) choices_[i].weight_scale = fabric.networks[i].planes;
  if (is_tree_) return;
  for (std::size_t at = 0; at < neighbours_.size(); ++at) {
    auto& choice = choices_[network_[at]];
    auto const ways = choice.is_valiant ? group_[at] + 1.0 : static_cast<double>(neighbours_[at].size());
    if (choice.spreads) choice.weight_scale = std::clamp(ways, choice.weight_scale, kMaxScale);
  }
}

void FabricWays::find_islands() {
  island_.resize(neighbours_.size());
  std::iota(island_.begin(), island_.end(), 0U);
  std::vector<bool> seen(neighbours_.size(), false);
  for (std::size_t first = 0; first < neighbours_.size(); ++first) {
    if (seen[first]) continue;
    std::vector<std::uint32_t> open{static_cast<std::uint32_t>(first)};
    seen[first] = true;
    while (!open.empty()) {
      auto const at = open.back();
      open.pop_back();
      island_[at] = static_cast<std::uint32_t>(first);
      for (auto const& next : neighbours_[at]) {
        if (seen[next.at]) continue;
        seen[next.at] = true;
        open.push_back(next.at);
      }
    }
  }
}

std::optional<FabricWay> FabricWays::between(std::uint32_t from, std::uint32_t to, std::uint64_t choice) const {
  if (island_[from] != island_[to]) return std::nullopt;
  if (from == to) return FabricWay{{}, {from}};
  if (choices_[network_[from]].is_valiant && group_[from] != group_[to])
    if (auto way = by_other_groups(from, to)) return way;
  return is_tree_ ? way_of_tree(from, to) : shortest(from, to, choice);
}

// Nullopt where there is no third group.
std::optional<FabricWay> FabricWays::by_other_groups(std::uint32_t from, std::uint32_t to) const {
  std::map<std::pair<std::uint32_t, bool>, double> shares;
  std::optional<FabricWay> first;
  double count = 0;
  for (std::uint32_t middle = 0; middle < group_.size(); ++middle) {
    if (island_[middle] != island_[from] || group_[middle] == group_[from] || group_[middle] == group_[to]) continue;
    auto const there = shortest(from, middle, 0);
    auto const on = shortest(middle, to, 0);
    ++count;
    for (auto const* leg : {&there, &on})
      for (auto const& use : leg->uses) shares[{use.trunk, use.up}] += use.share;
    if (first) continue;
    first = there;
    first->passed.insert(first->passed.end(), on.passed.begin() + 1, on.passed.end());
  }
  if (!first) return std::nullopt;
  first->uses.clear();
  for (auto const& [use, share] : shares) first->uses.push_back({use.first, use.second, share / count});
  return first;
}

FabricWay FabricWays::way_of_tree(std::uint32_t from, std::uint32_t to) const {
  FabricWay way{{}, {from}};
  std::vector<TrunkUse> descent;
  std::vector<std::uint32_t> below{to};  // the switches of the descent, from its end
  while (from != to) {
    if (tier_[from] <= tier_[to]) {
      way.uses.push_back({*above_[from], true, 1});
      from = parent_[from];
      way.passed.push_back(from);
    } else {
      descent.push_back({*above_[to], false, 1});
      to = parent_[to];
      below.push_back(to);
    }
  }
  way.uses.insert(way.uses.end(), descent.rbegin(), descent.rend());
  way.passed.insert(way.passed.end(), below.rbegin() + 1, below.rend());  // without where the two met
  return way;
}

std::vector<int> FabricWays::distances_to(std::uint32_t to) const {
  std::vector<int> distance(neighbours_.size(), -1);
  std::vector<std::uint32_t> open{to};
  distance[to] = 0;
  for (std::size_t i = 0; i < open.size(); ++i)
    for (auto const& next : neighbours_[open[i]]) {
      if (distance[next.at] >= 0) continue;
      distance[next.at] = distance[open[i]] + 1;
      open.push_back(next.at);
    }
  return distance;
}

FabricWay FabricWays::shortest(std::uint32_t from, std::uint32_t to, std::uint64_t choice) const {
  auto const distance = distances_to(to);
  auto const& network = choices_[network_[from]];
  FabricWay way{{}, {from}};
  std::map<std::pair<std::uint32_t, bool>, double> shares;
  std::map<std::uint32_t, double> here{{from, 1.0}};  // the traffic that is at each switch
  while (way.passed.back() != to) {
    std::map<std::uint32_t, double> there;
    std::uint32_t next_passed = to;
    for (auto const& [at, share] : here) {
      auto nearer = nearer_than(at, distance);
      if (!network.spreads) nearer = {nearer[network.is_by_dimension ? 0 : choice % nearer.size()]};
      if (at == way.passed.back()) next_passed = nearer.front().at;
      double total = 0;
      for (auto const& next : nearer) total += next.rate;
      for (auto const& next : nearer) {
        auto const part = share * next.rate / total;
        shares[{next.trunk, next.up}] += part;
        there[next.at] += part;
      }
    }
    way.passed.push_back(next_passed);
    here = std::move(there);
  }
  for (auto const& [use, share] : shares) way.uses.push_back({use.first, use.second, share});
  return way;
}

std::vector<FabricWays::Neighbour> FabricWays::nearer_than(std::uint32_t at, std::vector<int> const& distance) const {
  std::vector<Neighbour> nearer;
  for (auto const& next : neighbours_[at])
    if (distance[next.at] == distance[at] - 1) nearer.push_back(next);
  return nearer;
}

}  // namespace lanewise
