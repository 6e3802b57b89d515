#include "core/planner/collectives/algorithms/rings.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "core/planner/collective_limits.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

using Links = std::vector<std::vector<int>>;
using Ring = std::vector<std::size_t>;

// Searches for as many rings as possible that share no link, by exhaustive depth-first search with a limit.
class RingSearch {
 public:
  explicit RingSearch(Links links) : free_links_(std::move(links)) {
    for (auto const& row : free_links_)
      max_rings_ = std::min(max_rings_, static_cast<std::size_t>(std::accumulate(row.begin(), row.end(), 0)) / 2);
  }

  std::vector<Ring> run() {
    begin_ring();
    return std::move(best_);
  }

 private:
  [[nodiscard]] bool is_done() const {
    return best_.size() == max_rings_ || steps_ > kCollectiveLimits.max_ring_search_steps;
  }

  void begin_ring() {
    if (rings_.size() > best_.size()) best_ = rings_;
    if (is_done()) return;
    std::vector<bool> visited(free_links_.size(), false);
    visited[0] = true;
    Ring path{0};
    extend(path, visited);
  }

  // Tries the neighbours with the most free links first.
  void extend(Ring& path, std::vector<bool>& visited) {
    ++steps_;
    auto const here = path.back();
    if (path.size() == free_links_.size()) {
      // The reverse of a ring is the same ring: take one of the two.
      if (free_links_[here][0] > 0 && path[1] < here) close(path);
      return;
    }
    Ring next;
    for (std::size_t j = 0; j < free_links_.size(); ++j)
      if (!visited[j] && free_links_[here][j] > 0) next.push_back(j);
    std::stable_sort(next.begin(), next.end(),
                     [&](auto a, auto b) { return free_links_[here][a] > free_links_[here][b]; });
    for (auto const j : next) {
      if (is_done()) return;
      visited[j] = true;
      path.push_back(j);
      extend(path, visited);
      path.pop_back();
      visited[j] = false;
    }
  }

  void close(Ring const& ring) {
    occupy(ring, 1);
    rings_.push_back(ring);
    begin_ring();
    rings_.pop_back();
    occupy(ring, -1);
  }
  void occupy(Ring const& ring, int count) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      auto const a = ring[i];
      auto const b = ring[(i + 1) % ring.size()];
      free_links_[a][b] -= count;
      free_links_[b][a] -= count;
    }
  }

  Links free_links_;
  std::size_t max_rings_ = kCollectiveLimits.max_rings / 2;
  std::vector<Ring> rings_;
  std::vector<Ring> best_;
  int steps_ = 0;
};

}  // namespace

Links links_between(Machine const& machine, std::vector<Place> const& among) {
  std::map<PciId, std::size_t> position;
  for (std::size_t i = 0; i < among.size(); ++i)
    if (auto const gpu = gpu_at(machine, among[i])) position[*gpu] = i;
  Links links(among.size(), std::vector<int>(among.size(), 0));
  for (auto const& bundle : machine.nvlinks) {
    auto const* a = std::get_if<PciId>(&bundle.a);
    auto const* b = std::get_if<PciId>(&bundle.b);
    if (a == nullptr || b == nullptr || !position.contains(*a) || !position.contains(*b)) continue;
    links[position[*a]][position[*b]] += bundle.count;
    links[position[*b]][position[*a]] += bundle.count;
  }
  return links;
}

std::vector<Ring> disjoint_rings(Machine const& machine, std::vector<Place> const& among) {
  std::vector<Ring> rings;
  if (among.size() > 2)
    for (auto& ring : RingSearch(links_between(machine, among)).run()) {
      rings.emplace_back(ring.rbegin(), ring.rend());  // the other direction of the same links
      rings.push_back(std::move(ring));
    }
  if (rings.empty()) {
    rings.emplace_back(among.size());
    std::iota(rings.back().begin(), rings.back().end(), std::size_t{0});
  }
  return rings;
}

std::vector<Ring> nvlink_islands(Machine const& machine, std::vector<Place> const& among) {
  auto const links = links_between(machine, among);
  std::vector<Ring> islands;
  std::vector<bool> visited(among.size(), false);
  for (std::size_t first = 0; first < among.size(); ++first) {
    auto const gpu = gpu_at(machine, among[first]);
    if (gpu && on_nvswitch(machine, *gpu)) return {};
    if (visited[first]) continue;
    visited[first] = true;
    Ring island{first};
    for (std::size_t k = 0; k < island.size(); ++k)
      for (std::size_t j = 0; j < among.size(); ++j)
        if (!visited[j] && links[island[k]][j] > 0) {
          visited[j] = true;
          island.push_back(j);
        }
    std::sort(island.begin(), island.end());
    islands.push_back(std::move(island));
  }
  return islands;
}

}  // namespace lanewise
