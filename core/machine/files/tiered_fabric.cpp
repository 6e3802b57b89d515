// Fabrics in which every switch, or group of switches that act as one, has one such group above it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/machine/files/fabric_reader.hpp"
#include "core/machine/files/key_values.hpp"
#include "core/machine/nic_rate.hpp"

namespace lanewise {
namespace {

std::string numbered(std::string const& name, std::size_t number, bool is_only, std::optional<int> rail,
                     std::optional<std::size_t> plane) {
  return fmt::format("{}{}{}{}", name, is_only ? std::string() : std::to_string(number),
                     rail ? fmt::format(".rail{}", *rail) : std::string(),
                     plane ? fmt::format(".plane{}", *plane) : std::string());
}

}  // namespace

void FabricReader::read_tiered() {
  if (network().kind == "direct" && nodes_.size() != 2)
    reader_.fail(*reader_.node("kind"), fmt::format("'direct' joins two nodes; here are {}", nodes_.size()));
  auto const planes = positive_count(reader_, "planes").value_or(1);
  constexpr int kMaxPlanes = 16;
  if (planes > kMaxPlanes) return reader_.fail(*reader_.node("planes"), fmt::format("'planes' is 1 to {}", kMaxPlanes));
  network().planes = std::max(planes, 1);
  auto const tiers = network().kind == "fat_tree" ? tiers_of_list() : tiers_of_kind();
  if (tiers.empty()) return;
  for (auto const& tier : tiers) check_uplinks(tier, &tier == &tiers.back());
  attach_leaves(tiers.front());
  for (std::size_t i = 1; i < tiers.size(); ++i) add_tier(tiers[i - 1], tiers[i], i, i + 1 == tiers.size());
}

std::vector<FabricReader::Tier> FabricReader::tiers_of_kind() {
  auto const nodes = nodes_.size();
  auto const& kind = network().kind;
  by_rail_ = kind == "rail_optimised" || kind == "rail_only";
  joins_rails_ = kind != "rail_only";
  Tier leaf{
      .name = "leaf", .part = switch_part(reader_, "switch"), .joins = nodes_per_leaf(nodes), .node = &reader_.self()};
  leaf.uplinks = positive_count(reader_, "uplinks");
  leaf.uplink_rate = reader_.rate("uplink_rate");
  leaf.oversubscription = reader_.ratio("oversubscription");
  bool const has_spines =
      kind == "leaf_spine" || kind == "rail_optimised" || (kind == "rail_only" && leaf.joins < nodes);
  if (!has_spines) return {leaf};
  return {leaf, {.name = "spine", .part = leaf.part, .count = 0, .node = &reader_.self()}};
}

std::vector<FabricReader::Tier> FabricReader::tiers_of_list() {
  by_rail_ = reader_.flag("by_rail").value_or(false);
  std::vector<Tier> tiers;
  for (auto& tier : reader_.maps("tiers")) tiers.push_back(read_tier(tier, tiers.empty()));
  if (tiers.empty()) reader_.fail_at_key("tiers", "a fat_tree has 'tiers', from the lowest to the highest");
  return tiers;
}

FabricReader::Tier FabricReader::read_tier(MapReader& reader, bool is_lowest) {
  Tier tier{
      .name = reader.text("tier").value_or("tier"), .part = switch_part(reader, "switch"), .node = &reader.self()};
  tier.joins = static_cast<std::size_t>(positive_count(reader, "joins").value_or(0));
  auto const switches = positive_count(reader, "switches");
  if (is_lowest && switches)
    reader.fail(*reader.node("switches"), "in the lowest tier a switch stands by itself: leave 'switches' out");
  tier.count = is_lowest ? 1 : switches.value_or(0);
  tier.uplinks = positive_count(reader, "uplinks");
  tier.uplink_rate = reader.rate("uplink_rate");
  tier.oversubscription = reader.ratio("oversubscription");
  return tier;
}

void FabricReader::check_uplinks(Tier const& tier, bool is_top) {
  if (tier.uplinks && tier.oversubscription) reader_.fail(*tier.node, "give 'uplinks' or 'oversubscription', not both");
  if (tier.oversubscription && *tier.oversubscription <= 0)
    reader_.fail(*tier.node, "'oversubscription' is more than 0");
  if (is_top && (tier.uplinks || tier.uplink_rate || tier.oversubscription))
    reader_.fail(*tier.node, fmt::format("nothing is above '{}', so it has no uplinks", tier.name));
}

void FabricReader::attach_leaves(Tier const& tier) {
  auto const group_size = tier.joins > 0 ? tier.joins : nodes_.size();
  std::map<std::tuple<std::size_t, int, std::size_t>, std::uint32_t> leaf_of;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (auto const nic : nics_[nodes_[i]])
      for (std::size_t plane = 0; plane < static_cast<std::size_t>(network().planes); ++plane) {
        auto const group = i / group_size;
        auto const rail = by_rail_ ? cluster_.at(nic).rail : std::nullopt;
        auto const [it, is_new] = leaf_of.emplace(std::tuple(group, rail.value_or(0), plane),
                                                  static_cast<std::uint32_t>(fabric_.switches.size()));
        if (is_new) {
          fabric_.switches.push_back({numbered(tier.name, group, false, rail, plane_name(plane)), 0, 1, tier.part});
          group_of_.push_back(group);
          rail_of_.push_back(rail.value_or(0));
          plane_of_.push_back(plane);
        }
        fabric_.attachments.push_back({nic, it->second, rate_of_cable(nic, it->second)});
      }
}

std::optional<std::size_t> FabricReader::plane_name(std::size_t plane) const {
  return network().planes > 1 ? std::optional(plane) : std::nullopt;
}

// Where it is not the NIC's own: of one of several ports, or to a switch whose ports are slower.
std::optional<BytesPerSecond> FabricReader::rate_of_cable(PciId nic, std::uint32_t at) const {
  auto const rate = nic_rate(cluster_, nic);
  if (!rate) return std::nullopt;
  auto const planes = network().planes;
  auto const of_port = *rate / static_cast<double>(planes);
  auto const& part = fabric_.switches[at].part;
  auto const limit = part ? cluster_.at(*part).hop.rate : std::nullopt;
  if (limit && *limit < of_port) return limit;
  return planes > 1 ? std::optional(of_port) : std::nullopt;
}

void FabricReader::add_tier(Tier const& lower, Tier const& tier, std::size_t tier_number, bool is_top) {
  auto const first = fabric_.switches.size();
  std::vector<std::uint32_t> children;
  std::size_t groups = 0;
  for (std::size_t i = 0; i < first; ++i)
    if (fabric_.switches[i].tier == static_cast<int>(tier_number) - 1) {
      children.push_back(static_cast<std::uint32_t>(i));
      groups = std::max(groups, group_of_[i] + 1);
    }
  auto const joins = tier.joins > 0 ? tier.joins : groups;
  bool const is_only = joins >= groups;
  if (is_top && !is_only)
    reader_.fail(*tier.node,
                 fmt::format("the highest tier joins {} of {} groups below it; add a tier, or leave 'joins' "
                             "out",
                             joins, groups));
  std::map<std::tuple<std::size_t, int, std::size_t>, std::uint32_t> known;
  for (auto const child : children) {
    auto const group = group_of_[child] / joins;
    auto const rail = joins_rails_ ? 0 : rail_of_[child];
    auto const plane = plane_of_[child];
    auto const [it, is_new] =
        known.emplace(std::tuple(group, rail, plane), static_cast<std::uint32_t>(fabric_.switches.size()));
    if (is_new) {
      auto const name =
          numbered(tier.name, group, is_only, joins_rails_ ? std::nullopt : std::optional(rail), plane_name(plane));
      fabric_.switches.push_back({name, static_cast<int>(tier_number), tier.count, tier.part});
      group_of_.push_back(group);
      rail_of_.push_back(rail);
      plane_of_.push_back(plane);
    }
    add_uplinks(child, it->second, lower);
  }
}

FabricReader::Below FabricReader::below(std::uint32_t of) const {
  Below result;
  for (auto const& attachment : fabric_.attachments) {
    if (attachment.at != of) continue;
    auto const rate = cable_rate(cluster_, attachment).value_or(BytesPerSecond(0));
    result.total += rate;
    result.one = std::max(result.one, rate);
  }
  for (auto const& trunk : fabric_.trunks) {
    if (trunk.upper != of) continue;
    result.total += trunk.rate;
    result.one = std::max(result.one, trunk.rate / static_cast<double>(std::max(trunk.cables, 1)));
  }
  return result;
}

void FabricReader::add_uplinks(std::uint32_t lower, std::uint32_t upper, Tier const& tier) {
  auto const from_below = below(lower);
  auto const one = tier.uplink_rate.value_or(from_below.one);
  auto const cables_of = [&](BytesPerSecond total) {
    constexpr double kRounding = 1e-9;
    return one > BytesPerSecond(0) ? std::max(1, static_cast<int>(std::ceil(total / one - kRounding))) : 1;
  };
  Fabric::Trunk trunk{lower, upper, 0, BytesPerSecond(0)};
  if (tier.uplinks) {
    trunk.cables = *tier.uplinks;
    trunk.rate = one * static_cast<double>(trunk.cables);
  } else if (tier.oversubscription) {
    trunk.cables = cables_of(from_below.total * (1 / *tier.oversubscription));
    trunk.rate = one * static_cast<double>(trunk.cables);
  } else {
    trunk.cables = cables_of(from_below.total);
    trunk.rate = from_below.total;
  }
  fabric_.trunks.push_back(trunk);
}

}  // namespace lanewise
