#include "core/planner/collectives/folding/unit_grid.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "core/estimate/folded_resources.hpp"
#include "core/machine/fabric_ways.hpp"
#include "core/model/place_classes.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

// The nodes of a unit, ascending.
std::vector<HostId> hosts_of(Machine const& machine, Collective const& collective,
                             std::vector<std::size_t> const& participants) {
  std::vector<HostId> hosts;
  for (auto const i : participants) hosts.push_back(machine.host_of(collective.among[i]));
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  return hosts;
}

// What a unit is to others: its nodes' likeness, and where in them its participants are.
std::vector<std::uint32_t> key_of(Model const& model, Collective const& collective, std::vector<HostId> const& hosts,
                                  std::vector<std::size_t> const& participants, bool with_likeness) {
  std::vector<std::uint32_t> key;
  auto const& classes = model.classes();
  for (auto const host : hosts)
    if (with_likeness) key.push_back(classes.likeness_of(host));
  for (auto const i : participants) {
    auto const host = model.machine().host_of(collective.among[i]);
    key.push_back(static_cast<std::uint32_t>(std::lower_bound(hosts.begin(), hosts.end(), host) - hosts.begin()));
    key.push_back(classes.within_node(collective.among[i]));
  }
  return key;
}

// Of each unit, a number for each tier from the highest down, equal for units below the same switches of the tier.
std::vector<std::vector<std::size_t>> blocks_of(Model const& model, std::vector<std::vector<HostId>> const& hosts) {
  auto const& fabric = *model.machine().fabric;
  auto const& ways = model.resources().fabric_ways();
  std::map<HostId, std::size_t> unit_of;
  for (std::size_t u = 0; u < hosts.size(); ++u)
    for (auto const host : hosts[u]) unit_of.emplace(host, u);
  std::vector<std::vector<std::uint32_t>> tops(hosts.size());
  std::vector<std::vector<std::size_t>> blocks(hosts.size());
  for (int tier = fabric.switches.back().tier; tier >= 0; --tier) {
    for (auto& list : tops) list.clear();
    for (auto const& attachment : fabric.attachments) {
      auto const found = unit_of.find(model.machine().host_of(attachment.nic));
      if (found == unit_of.end()) continue;
      auto top = attachment.at;
      for (auto trunk = ways.trunk_above(top); trunk && fabric.switches[fabric.trunks[*trunk].upper].tier <= tier;
           trunk = ways.trunk_above(top))
        top = fabric.trunks[*trunk].upper;
      tops[found->second].push_back(top);
    }
    std::map<std::vector<std::uint32_t>, std::size_t> known;
    for (std::size_t u = 0; u < hosts.size(); ++u)
      blocks[u].push_back(known.try_emplace(tops[u], known.size()).first->second);
  }
  for (std::size_t u = 0; u < hosts.size(); ++u) blocks[u].push_back(u);
  return blocks;
}

// How many blocks there are within each block of the tier above, from the highest tier down. Empty if they are not
// equally many.
std::vector<std::size_t> sizes_of(std::vector<std::vector<std::size_t>> const& blocks) {
  std::vector<std::size_t> sizes;
  std::size_t above = 1;
  for (std::size_t tier = 0; tier < blocks.front().size(); ++tier) {
    std::map<std::size_t, std::size_t> members;  // units of each block
    for (auto const& of_unit : blocks) ++members[of_unit[tier]];
    for (auto const& [block, count] : members)
      if (count != members.begin()->second) return {};
    if (members.size() % above != 0) return {};
    sizes.push_back(members.size() / above);
    above = members.size();
  }
  return sizes;
}

void append_prime_factors(std::size_t of, std::vector<std::size_t>& factors) {
  for (std::size_t factor = 2; of > 1; ++factor)
    for (; of % factor == 0; of /= factor) factors.push_back(factor);
}

}  // namespace

std::optional<UnitGrid> UnitGrid::of(Model const& model, Collective const& collective,
                                     ParticipantLayout const& layout) {
  auto const& machine = model.machine();
  auto const& groups = layout.groups;
  if (groups.size() < 2 || !machine.fabric || !model.classes().has_nodes()) return std::nullopt;
  std::vector<std::vector<HostId>> hosts;
  for (auto const& group : groups) {
    for (auto const i : group)
      if (!gpu_at(machine, collective.among[i])) return std::nullopt;
    hosts.push_back(hosts_of(machine, collective, group));
    if (key_of(model, collective, hosts.back(), group, false) !=
        key_of(model, collective, hosts.front(), groups.front(), false))
      return std::nullopt;
  }
  auto const blocks = blocks_of(model, hosts);
  auto const sizes = sizes_of(blocks);
  if (sizes.empty()) return std::nullopt;
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return blocks[a] < blocks[b]; });
  UnitGrid grid;
  grid.units_are_meshes_ = layout.groups_are_meshes;
  for (auto const size : sizes) append_prime_factors(size, grid.radices_);
  std::map<std::vector<std::uint32_t>, std::uint32_t> classes;
  std::vector<std::uint32_t> class_of;
  for (auto const u : order) {
    grid.participants_.push_back(groups[u]);
    grid.hosts_.push_back(hosts[u]);
    class_of.push_back(classes
                           .try_emplace(key_of(model, collective, hosts[u], groups[u], true),
                                        static_cast<std::uint32_t>(classes.size()))
                           .first->second);
    if (classes.size() > kMaxClasses) return std::nullopt;
  }
  grid.set_classes(std::move(class_of));
  if (!FoldedResources(model, grid.folding_).are_even(model)) return std::nullopt;
  return grid;
}

UnitGrid UnitGrid::of(std::vector<std::vector<std::size_t>> participants, std::vector<std::size_t> radices) {
  UnitGrid grid;
  grid.hosts_.resize(participants.size());
  grid.set_classes(std::vector<std::uint32_t>(participants.size(), 0));
  grid.participants_ = std::move(participants);
  grid.radices_ = std::move(radices);
  return grid;
}

UnitGrid UnitGrid::of_meshes(std::vector<std::vector<std::size_t>> participants, std::vector<std::size_t> radices) {
  auto grid = of(std::move(participants), std::move(radices));
  grid.units_are_meshes_ = true;
  return grid;
}

// Classes are numbered in the order of their first units.
void UnitGrid::set_classes(std::vector<std::uint32_t> class_of) {
  class_of_ = std::move(class_of);
  firsts_.clear();
  folding_.clear();
  for (std::size_t at = 0; at < class_of_.size(); ++at) {
    if (class_of_[at] == folding_.size()) {
      firsts_.push_back(at);
      folding_.emplace_back();
    }
    folding_[class_of_[at]].units.push_back(hosts_[at]);
  }
}

UnitGrid UnitGrid::refined(std::vector<std::size_t> const& displacements, std::size_t max_classes) const {
  auto grid = *this;
  while (grid.classes() > 1) {
    std::map<std::vector<std::uint32_t>, std::uint32_t> known;
    std::vector<std::uint32_t> class_of;
    for (std::size_t at = 0; at < units() && known.size() <= max_classes; ++at) {
      std::vector<std::uint32_t> key{grid.class_of(at)};
      for (auto const displacement : displacements)
        for (auto const other : {displacement, negative(displacement)}) key.push_back(grid.class_of(plus(at, other)));
      class_of.push_back(known.try_emplace(std::move(key), static_cast<std::uint32_t>(known.size())).first->second);
    }
    if (known.size() == grid.classes() || known.size() > max_classes) break;
    grid.set_classes(std::move(class_of));
  }
  return grid;
}

std::size_t UnitGrid::plus(std::size_t position, std::size_t displacement) const {
  std::size_t sum = 0;
  std::size_t stride = 1;
  for (auto radix = radices_.rbegin(); radix != radices_.rend(); ++radix) {
    sum += (position % *radix + displacement % *radix) % *radix * stride;
    position /= *radix;
    displacement /= *radix;
    stride *= *radix;
  }
  return sum;
}

std::size_t UnitGrid::negative(std::size_t displacement) const {
  std::size_t sum = 0;
  std::size_t stride = 1;
  for (auto radix = radices_.rbegin(); radix != radices_.rend(); ++radix) {
    sum += (*radix - displacement % *radix) % *radix * stride;
    displacement /= *radix;
    stride *= *radix;
  }
  return sum;
}

}  // namespace lanewise
