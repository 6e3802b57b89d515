#include "core/planner/peer_mappings.hpp"

#include <algorithm>
#include <vector>

#include "core/machine/path_class.hpp"

namespace lanewise {
namespace {

bool is_above_limit(Machine const& machine, PciId gpu, std::size_t peers) {
  auto const* part = machine.part_of(gpu);
  return part != nullptr && part->gpu.max_peers && static_cast<int>(peers) > *part->gpu.max_peers;
}

}  // namespace

void PeerMappings::add(std::span<PeerPair const> pairs) {
  std::vector<std::pair<PathClass, PeerPair>> nearest_first;
  for (auto const& pair : pairs) nearest_first.emplace_back(path_class(machine_, pair.first, pair.second), pair);
  std::stable_sort(nearest_first.begin(), nearest_first.end(),
                   [](auto const& one, auto const& other) { return one.first < other.first; });
  for (auto const& [path, pair] : nearest_first) {
    if (has(pair) || !has_room(pair.first) || !has_room(pair.second)) continue;
    peers_[pair.first].insert(pair.second);
    peers_[pair.second].insert(pair.first);
  }
}

bool PeerMappings::has(PeerPair const& pair) const {
  auto const found = peers_.find(pair.first);
  return found != peers_.end() && found->second.count(pair.second) > 0;
}

MappedPeers PeerMappings::besides(PeerPair const& pair) const {
  return {count(pair.first, pair.second), count(pair.second, pair.first)};
}

bool PeerMappings::has_room(PciId gpu) const {
  return !is_above_limit(machine_, gpu, static_cast<std::size_t>(count(gpu, gpu)) + 1);
}

int PeerMappings::count(PciId gpu, PciId but) const {
  auto const found = peers_.find(gpu);
  return found == peers_.end() ? 0 : static_cast<int>(found->second.size() - found->second.count(but));
}

bool need_more_mappings(Machine const& machine, std::span<PeerPair const> pairs) {
  std::map<PciId, std::set<PciId>> others;
  for (auto const& [one, other] : pairs) {
    if (machine.host_of(one) != machine.host_of(other)) continue;
    others[one].insert(other);
    others[other].insert(one);
  }
  return std::any_of(others.begin(), others.end(),
                     [&](auto const& entry) { return is_above_limit(machine, entry.first, entry.second.size()); });
}

}  // namespace lanewise
