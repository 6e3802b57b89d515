#include "core/planner/collectives/trees/arborescence.hpp"

namespace lanewise {
namespace {

using Parents = std::vector<std::size_t>;

std::optional<Parents> cheapest_parents(EdgeCosts const& costs, std::size_t root) {
  auto const n = costs.size();
  Parents parents(n, root);
  for (std::size_t to = 0; to < n; ++to) {
    if (to == root) continue;
    for (std::size_t from = 0; from < n; ++from)
      if (from != to && costs[from][to] < costs[parents[to]][to]) parents[to] = from;
    if (costs[parents[to]][to] == kNoEdge) return std::nullopt;
  }
  return parents;
}

// A cycle of parents; empty if all lead to the root.
std::vector<std::size_t> find_cycle(Parents const& parents, std::size_t root) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> seen_from(parents.size(), kNone);
  seen_from[root] = root;
  for (std::size_t first = 0; first < parents.size(); ++first) {
    auto here = first;
    for (; seen_from[here] == kNone; here = parents[here]) seen_from[here] = first;
    if (here == root || seen_from[here] != first) continue;
    std::vector<std::size_t> cycle{here};
    for (auto next = parents[here]; next != here; next = parents[next]) cycle.push_back(next);
    return cycle;
  }
  return {};
}

// The same graph with a cycle contracted to one vertex, the last.
struct ContractedGraph {
  EdgeCosts costs;
  std::vector<std::size_t> original;  // of each vertex but the last
  std::vector<std::size_t> entry;     // the vertex of the cycle that the cheapest edge from each other vertex enters
  std::vector<std::size_t> exit;      // the vertex of the cycle that the cheapest edge to each other vertex leaves
};

ContractedGraph contract(EdgeCosts const& costs, Parents const& parents, std::vector<std::size_t> const& cycle) {
  std::vector<bool> within(costs.size(), false);
  for (auto const one : cycle) within[one] = true;
  ContractedGraph result;
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (!within[i]) result.original.push_back(i);
  auto const others = result.original.size();
  result.costs.assign(others + 1, std::vector<double>(others + 1, kNoEdge));
  result.entry.resize(others, cycle.front());
  result.exit.resize(others, cycle.front());
  for (std::size_t i = 0; i < others; ++i) {
    auto const out = result.original[i];
    for (std::size_t j = 0; j < others; ++j) result.costs[i][j] = costs[out][result.original[j]];
    for (auto const one : cycle) {
      if (auto const extra = costs[out][one] - costs[parents[one]][one]; extra < result.costs[i][others]) {
        result.costs[i][others] = extra;
        result.entry[i] = one;
      }
      if (costs[one][out] < result.costs[others][i]) {
        result.costs[others][i] = costs[one][out];
        result.exit[i] = one;
      }
    }
  }
  return result;
}

}  // namespace

std::optional<std::vector<std::size_t>> cheapest_arborescence(EdgeCosts const& costs, std::size_t root) {
  auto parents = cheapest_parents(costs, root);
  if (!parents) return std::nullopt;
  auto const cycle = find_cycle(*parents, root);
  if (cycle.empty()) return parents;
  auto const inner = contract(costs, *parents, cycle);
  auto const others = inner.original.size();
  std::size_t inner_root = 0;
  while (inner.original[inner_root] != root) ++inner_root;
  auto const solved = cheapest_arborescence(inner.costs, inner_root);
  if (!solved) return std::nullopt;
  for (std::size_t i = 0; i < others; ++i) {
    auto const from = (*solved)[i];
    (*parents)[inner.original[i]] = from == others ? inner.exit[i] : inner.original[from];
  }
  auto const predecessor = (*solved)[others];
  (*parents)[inner.entry[predecessor]] = inner.original[predecessor];
  return parents;
}

std::optional<CheapestTree> cheapest_steiner_tree(EdgeCosts const& costs, std::size_t root, std::size_t terminals) {
  auto const others = costs.size() - terminals;
  std::optional<CheapestTree> best;
  for (std::size_t subset = 0; subset < (std::size_t{1} << others); ++subset) {
    std::vector<std::size_t> members;  // terminals first, each at its own index
    for (std::size_t i = 0; i < costs.size(); ++i)
      if (i < terminals || ((subset >> (i - terminals)) & 1U) != 0) members.push_back(i);
    EdgeCosts among(members.size(), std::vector<double>(members.size()));
    for (std::size_t i = 0; i < members.size(); ++i)
      for (std::size_t j = 0; j < members.size(); ++j) among[i][j] = costs[members[i]][members[j]];
    auto const parents = cheapest_arborescence(among, root);
    if (!parents) continue;
    CheapestTree tree;
    std::vector<std::size_t> reached{root};
    for (std::size_t k = 0; k < reached.size(); ++k)
      for (std::size_t i = 0; i < members.size(); ++i)
        if (i != root && (*parents)[i] == reached[k]) {
          reached.push_back(i);
          tree.cost += among[reached[k]][i];
          tree.edges.emplace_back(members[reached[k]], members[i]);
        }
    if (!best || tree.cost < best->cost) best = std::move(tree);
  }
  return best;
}

std::optional<Edges> shortest_paths(EdgeCosts const& costs, std::size_t root, double hop_cost, std::size_t terminals) {
  auto const n = costs.size();
  std::vector<double> distance(n, kNoEdge);
  std::vector<bool> settled(n, false);
  Parents parents(n, root);
  std::vector<std::size_t> order;
  distance[root] = 0;
  for (;;) {
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < n; ++i)
      if (!settled[i] && distance[i] < (nearest ? distance[*nearest] : kNoEdge)) nearest = i;
    if (!nearest) break;
    settled[*nearest] = true;
    order.push_back(*nearest);
    for (std::size_t to = 0; to < n; ++to) {
      auto const through = distance[*nearest] + costs[*nearest][to] + hop_cost;
      if (settled[to] || through >= distance[to]) continue;
      distance[to] = through;
      parents[to] = *nearest;
    }
  }
  std::vector<bool> used(n, false);
  for (std::size_t i = 0; i < terminals; ++i) {
    if (!settled[i]) return std::nullopt;
    for (auto at = i; !used[at]; at = parents[at]) used[at] = true;
  }
  Edges edges;
  for (auto const to : order)
    if (to != root && used[to]) edges.emplace_back(parents[to], to);
  return edges;
}

}  // namespace lanewise
