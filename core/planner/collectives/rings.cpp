#include "core/planner/collectives/rings.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxRings = 12;
// Steps of the search: a mesh of eight is through after some thousands.
constexpr int kMaxTries = 200000;

using Links = std::vector<std::vector<int>>;
using Order = std::vector<std::size_t>;

// Rings that use no link twice, as many as there can be, found by trying ring after ring.
class RingSearch {
 public:
  explicit RingSearch(Links links) : left_(std::move(links)) {
    for (auto const& row : left_)
      most_ = std::min(most_, static_cast<std::size_t>(std::accumulate(row.begin(), row.end(), 0)) / 2);
  }

  std::vector<Order> run() {
    begin_ring();
    return std::move(best_);
  }

 private:
  [[nodiscard]] bool through() const { return best_.size() == most_ || tries_ > kMaxTries; }

  void begin_ring() {
    if (rings_.size() > best_.size()) best_ = rings_;
    if (through()) return;
    std::vector<bool> seen(left_.size(), false);
    seen[0] = true;
    Order order{0};
    go_on(order, seen);
  }

  // Depth first, along the links of which most are left.
  void go_on(Order& order, std::vector<bool>& seen) {
    ++tries_;
    auto const here = order.back();
    if (order.size() == left_.size()) {
      // The other direction is the same ring.
      if (left_[here][0] > 0 && order[1] < here) close(order);
      return;
    }
    Order next;
    for (std::size_t j = 0; j < left_.size(); ++j)
      if (!seen[j] && left_[here][j] > 0) next.push_back(j);
    std::stable_sort(next.begin(), next.end(), [&](auto a, auto b) { return left_[here][a] > left_[here][b]; });
    for (auto const j : next) {
      if (through()) return;
      seen[j] = true;
      order.push_back(j);
      go_on(order, seen);
      order.pop_back();
      seen[j] = false;
    }
  }

  void close(Order const& order) {
    take(order, 1);
    rings_.push_back(order);
    begin_ring();
    rings_.pop_back();
    take(order, -1);
  }
  void take(Order const& order, int count) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      auto const a = order[i];
      auto const b = order[(i + 1) % order.size()];
      left_[a][b] -= count;
      left_[b][a] -= count;
    }
  }

  Links left_;
  std::size_t most_ = kMaxRings / 2;
  std::vector<Order> rings_;
  std::vector<Order> best_;
  int tries_ = 0;
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

std::vector<Order> disjoint_rings(Machine const& machine, std::vector<Place> const& among) {
  std::vector<Order> rings;
  if (among.size() > 2)
    for (auto& order : RingSearch(links_between(machine, among)).run()) {
      rings.emplace_back(order.rbegin(), order.rend());  // the other direction of the same links
      rings.push_back(std::move(order));
    }
  if (rings.empty()) {
    rings.emplace_back(among.size());
    std::iota(rings.back().begin(), rings.back().end(), std::size_t{0});
  }
  return rings;
}

std::vector<Order> nvlink_islands(Machine const& machine, std::vector<Place> const& among) {
  auto const links = links_between(machine, among);
  std::vector<Order> islands;
  std::vector<bool> seen(among.size(), false);
  for (std::size_t first = 0; first < among.size(); ++first) {
    auto const gpu = gpu_at(machine, among[first]);
    if (gpu && on_nvswitch(machine, *gpu)) return {};
    if (seen[first]) continue;
    seen[first] = true;
    Order island{first};
    for (std::size_t k = 0; k < island.size(); ++k)
      for (std::size_t j = 0; j < among.size(); ++j)
        if (!seen[j] && links[island[k]][j] > 0) {
          seen[j] = true;
          island.push_back(j);
        }
    std::sort(island.begin(), island.end());
    islands.push_back(std::move(island));
  }
  return islands;
}

}  // namespace lanewise
