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

// Empty where everyone's parents lead to the root.
std::vector<std::size_t> circle_among(Parents const& parents, std::size_t root) {
  constexpr auto kNobody = static_cast<std::size_t>(-1);
  std::vector<std::size_t> seen_from(parents.size(), kNobody);
  seen_from[root] = root;
  for (std::size_t first = 0; first < parents.size(); ++first) {
    auto here = first;
    for (; seen_from[here] == kNobody; here = parents[here]) seen_from[here] = first;
    if (here == root || seen_from[here] != first) continue;
    std::vector<std::size_t> circle{here};
    for (auto next = parents[here]; next != here; next = parents[next]) circle.push_back(next);
    return circle;
  }
  return {};
}

// The same places with a circle as one of them, the last.
struct Contracted {
  EdgeCosts costs;
  std::vector<std::size_t> original;  // of each but the last
  std::vector<std::size_t> entered;   // by whoever enters from there: whom of the circle
  std::vector<std::size_t> left;      // by whoever leaves to there: from whom of the circle
};

Contracted contracted(EdgeCosts const& costs, Parents const& parents, std::vector<std::size_t> const& circle) {
  std::vector<bool> within(costs.size(), false);
  for (auto const one : circle) within[one] = true;
  Contracted result;
  for (std::size_t i = 0; i < costs.size(); ++i)
    if (!within[i]) result.original.push_back(i);
  auto const others = result.original.size();
  result.costs.assign(others + 1, std::vector<double>(others + 1, kNoEdge));
  result.entered.resize(others, circle.front());
  result.left.resize(others, circle.front());
  for (std::size_t i = 0; i < others; ++i) {
    auto const out = result.original[i];
    for (std::size_t j = 0; j < others; ++j) result.costs[i][j] = costs[out][result.original[j]];
    for (auto const one : circle) {
      if (auto const entry = costs[out][one] - costs[parents[one]][one]; entry < result.costs[i][others]) {
        result.costs[i][others] = entry;
        result.entered[i] = one;
      }
      if (costs[one][out] < result.costs[others][i]) {
        result.costs[others][i] = costs[one][out];
        result.left[i] = one;
      }
    }
  }
  return result;
}

}  // namespace

std::optional<std::vector<std::size_t>> cheapest_arborescence(EdgeCosts const& costs, std::size_t root) {
  auto parents = cheapest_parents(costs, root);
  if (!parents) return std::nullopt;
  auto const circle = circle_among(*parents, root);
  if (circle.empty()) return parents;
  auto const inner = contracted(costs, *parents, circle);
  auto const others = inner.original.size();
  std::size_t inner_root = 0;
  while (inner.original[inner_root] != root) ++inner_root;
  auto const solved = cheapest_arborescence(inner.costs, inner_root);
  if (!solved) return std::nullopt;
  for (std::size_t i = 0; i < others; ++i) {
    auto const from = (*solved)[i];
    (*parents)[inner.original[i]] = from == others ? inner.left[i] : inner.original[from];
  }
  auto const entry = (*solved)[others];
  (*parents)[inner.entered[entry]] = inner.original[entry];
  return parents;
}

std::optional<Edges> shortest_paths(EdgeCosts const& costs, std::size_t root, double hop, std::size_t wanted) {
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
      auto const through = distance[*nearest] + costs[*nearest][to] + hop;
      if (settled[to] || through >= distance[to]) continue;
      distance[to] = through;
      parents[to] = *nearest;
    }
  }
  std::vector<bool> passed(n, false);
  for (std::size_t i = 0; i < wanted; ++i) {
    if (!settled[i]) return std::nullopt;
    for (auto at = i; !passed[at]; at = parents[at]) passed[at] = true;
  }
  Edges edges;
  for (auto const to : order)
    if (to != root && passed[to]) edges.emplace_back(parents[to], to);
  return edges;
}

}  // namespace lanewise
