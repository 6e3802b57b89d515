#include "core/planner/peer_mappings.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/machine/path_class.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

bool is_above_limit(Machine const& machine, PciId gpu, std::size_t peers) {
  auto const* part = machine.part_of(gpu);
  return part != nullptr && part->gpu.max_peers && static_cast<int>(peers) > *part->gpu.max_peers;
}

}  // namespace

std::optional<PeerPair> gpus_between(Machine const& machine, Place const& from, Place const& to) {
  auto const one = gpu_at(machine, from);
  auto const other = gpu_at(machine, to);
  return one && other && one != other ? std::optional(PeerPair{*one, *other}) : std::nullopt;
}

bool exceed_peer_limit(Machine const& machine, std::span<PeerPair const> pairs) {
  std::map<PciId, std::set<PciId>> others;
  for (auto const& [one, other] : pairs) {
    if (machine.host_of(one) != machine.host_of(other)) continue;
    others[one].insert(other);
    others[other].insert(one);
  }
  return std::any_of(others.begin(), others.end(),
                     [&](auto const& entry) { return is_above_limit(machine, entry.first, entry.second.size()); });
}

bool may_exceed_peer_limit(Machine const& machine, std::span<Place const> places) {
  std::map<HostId, std::vector<PciId>> gpus;
  for (auto const& place : places)
    if (auto const gpu = gpu_at(machine, place)) gpus[machine.host_of(*gpu)].push_back(*gpu);
  return std::any_of(gpus.begin(), gpus.end(), [&](auto const& of_host) {
    return std::any_of(of_host.second.begin(), of_host.second.end(),
                       [&](PciId gpu) { return is_above_limit(machine, gpu, of_host.second.size() - 1); });
  });
}

void PeerMappings::add(std::span<PeerPair const> pairs) {
  std::map<PathClass, std::vector<PeerPair>> by_distance;
  for (auto const& pair : pairs) by_distance[path_class(machine_, pair.first, pair.second)].push_back(pair);
  for (auto& [distance, left] : by_distance)
    for (int round = 1; !left.empty(); ++round)
      std::erase_if(left, [&](PeerPair const& pair) {
        if (has(pair) || !has_room(pair.first) || !has_room(pair.second)) return true;
        if (count(pair.first, pair.first) >= round || count(pair.second, pair.second) >= round) return false;
        peers_[pair.first].insert(pair.second);
        peers_[pair.second].insert(pair.first);
        return true;
      });
}

bool PeerMappings::has(PeerPair const& pair) const {
  auto const found = peers_.find(pair.first);
  return found != peers_.end() && found->second.contains(pair.second);
}

MappedPeers PeerMappings::besides(PeerPair const& pair) const {
  constexpr auto kAll = std::numeric_limits<int>::max();
  if (!has(pair)) return {kAll, kAll};
  return {count(pair.first, pair.second), count(pair.second, pair.first)};
}

bool PeerMappings::has_room(PciId gpu) const {
  return !is_above_limit(machine_, gpu, static_cast<std::size_t>(count(gpu, gpu)) + 1);
}

int PeerMappings::count(PciId gpu, PciId but) const {
  auto const found = peers_.find(gpu);
  return found == peers_.end() ? 0 : static_cast<int>(found->second.size() - found->second.count(but));
}

}  // namespace lanewise
