#include "core/planner/collectives/algorithms/patterns.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/planner/collectives/algorithms/double_tree.hpp"

namespace lanewise {
namespace {

// The chunks of `count` parts from `first` on, ascending.
Chunks join(Parts parts, std::size_t first, std::size_t count) {
  Chunks all;
  for (auto const& chunks : parts.subspan(first, count)) all.insert(all.end(), chunks.begin(), chunks.end());
  std::sort(all.begin(), all.end());
  return all;
}

using TreeEdges = std::vector<std::pair<std::size_t, std::size_t>>;  // child, parent

// Appends the edges of a binary tree over [begin, end) with its root in the middle, children before parents.
void append_tree_edges(std::size_t begin, std::size_t end, TreeEdges& edges) {
  if (end - begin < 2) return;
  auto const root = begin + (end - begin) / 2;
  for (auto const& [first, last] : {std::pair(begin, root), std::pair(root + 1, end)}) {
    if (first >= last) continue;
    append_tree_edges(first, last, edges);
    edges.emplace_back(first + (last - first) / 2, root);
  }
}

}  // namespace

// In round k rank i sends part i - k - 1, which its predecessors have added to, so the last round ends at the owner.
void ring_reduce_scatter(TransferSchedule& schedule, Ranks ranks, Parts parts) {
  auto const n = ranks.size();
  for (std::size_t round = 0; round + 1 < n; ++round)
    for (std::size_t i = 0; i < n; ++i)
      schedule.send(ranks[i], ranks[(i + 1) % n], parts[(i + 2 * n - round - 1) % n], true);
}

void ring_all_gather(TransferSchedule& schedule, Ranks ranks, Parts parts) {
  auto const n = ranks.size();
  for (std::size_t round = 0; round + 1 < n; ++round)
    for (std::size_t i = 0; i < n; ++i) schedule.send(ranks[i], ranks[(i + 1) % n], parts[(i + n - round) % n], false);
}

void direct_reduce_scatter(TransferSchedule& schedule, Ranks ranks, Parts parts) {
  auto const n = ranks.size();
  for (std::size_t round = 1; round < n; ++round)
    for (std::size_t i = 0; i < n; ++i) schedule.send(ranks[i], ranks[(i + round) % n], parts[(i + round) % n], true);
}

void direct_all_gather(TransferSchedule& schedule, Ranks ranks, Parts parts) {
  auto const n = ranks.size();
  for (std::size_t round = 1; round < n; ++round)
    for (std::size_t i = 0; i < n; ++i) schedule.send(ranks[i], ranks[(i + round) % n], parts[i], false);
}

void mesh_reduce_scatter(TransferSchedule& schedule, Ranks ranks, std::span<std::vector<Chunks> const> slices) {
  auto const n = ranks.size();
  for (std::size_t round = 0; round + 1 < n; ++round)
    for (std::size_t s = 0; s < slices.size(); ++s) {
      auto const distance = 1 + (s + round) % (n - 1);
      for (std::size_t i = 0; i < n; ++i) {
        auto const owner = (i + distance) % n;
        schedule.send(ranks[i], ranks[owner], slices[s][owner], true);
      }
    }
}

void recursive_halving_reduce_scatter(TransferSchedule& schedule, Ranks ranks, Parts parts) {
  auto const n = ranks.size();
  for (auto distance = n / 2; distance > 0; distance /= 2)
    for (std::size_t i = 0; i < n; ++i) {
      // The partner keeps the half of the block that it is in itself.
      auto const partner = i ^ distance;
      auto const first = partner / distance * distance;
      schedule.send(ranks[i], ranks[partner], join(parts, first, distance), true);
    }
}

void recursive_doubling_all_gather(TransferSchedule& schedule, Ranks ranks, Parts parts) {
  auto const n = ranks.size();
  for (std::size_t distance = 1; distance < n; distance *= 2)
    for (std::size_t i = 0; i < n; ++i) {
      auto const first = i / distance * distance;
      schedule.send(ranks[i], ranks[i ^ distance], join(parts, first, distance), false);
    }
}

void tree_reduce(TransferSchedule& schedule, Ranks ranks, Chunks const& chunks) {
  TreeEdges edges;
  append_tree_edges(0, ranks.size(), edges);
  for (auto const chunk : chunks)
    for (auto const& [child, parent] : edges) schedule.send(ranks[child], ranks[parent], {chunk}, true);
}

void tree_broadcast(TransferSchedule& schedule, Ranks ranks, Chunks const& chunks) {
  TreeEdges edges;
  append_tree_edges(0, ranks.size(), edges);
  for (auto const chunk : chunks)
    for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge)
      schedule.send(ranks[edge->second], ranks[edge->first], {chunk}, false);
}

void two_tree_broadcast(TransferSchedule& schedule, Ranks ranks, Chunks const& chunks) {
  if (ranks.size() < 2) return;
  auto const others = ranks.subspan(1);
  std::array<std::vector<std::pair<std::size_t, std::size_t>>, 2> edges;  // from, to
  for (std::size_t tree = 0; tree < edges.size(); ++tree) {
    auto const parent_of = [&](std::size_t node) { return tree_parent(node, others.size(), static_cast<int>(tree)); };
    auto const depth = [&](std::size_t node) {
      std::size_t steps = 0;
      for (auto up = parent_of(node); up; up = parent_of(*up)) ++steps;
      return steps;
    };
    std::vector<std::size_t> nodes(others.size());
    std::iota(nodes.begin(), nodes.end(), 0);
    std::ranges::stable_sort(nodes, {}, depth);
    for (auto const node : nodes) {
      auto const parent = parent_of(node);
      edges[tree].emplace_back(parent ? others[*parent] : ranks[0], others[node]);
    }
  }
  for (std::size_t c = 0; c < chunks.size(); ++c)
    for (auto const& [from, to] : edges[c % edges.size()]) schedule.send(from, to, {chunks[c]}, false);
}

void chain_broadcast(TransferSchedule& schedule, Ranks ranks, Chunks const& chunks) {
  for (auto const chunk : chunks)
    for (std::size_t i = 0; i + 1 < ranks.size(); ++i) schedule.send(ranks[i], ranks[i + 1], {chunk}, false);
}

}  // namespace lanewise
