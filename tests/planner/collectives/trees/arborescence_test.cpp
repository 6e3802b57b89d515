// Cheapest arborescences and shortest paths against exhaustive search.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/planner/collectives/trees/arborescence.hpp"

namespace lanewise {
namespace {

// The cost of the edges if everyone descends from the root.
std::optional<double> cost_of(EdgeCosts const& costs, std::vector<std::size_t> const& parents, std::size_t root) {
  double sum = 0;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    auto here = i;
    for (std::size_t hops = 0; here != root; here = parents[here])
      if (++hops > parents.size()) return std::nullopt;
    if (i != root) sum += costs[parents[i]][i];
  }
  return sum;
}

double cheapest_of_all(EdgeCosts const& costs, std::size_t root) {
  auto const n = costs.size();
  std::vector<std::size_t> parents(n, 0);
  auto best = kNoEdge;
  for (;;) {
    if (auto const cost = cost_of(costs, parents, root)) best = std::min(best, *cost);
    std::size_t digit = 0;
    while (digit < n && ++parents[digit] == n) parents[digit++] = 0;
    if (digit == n) return best;
  }
}

// Random edge costs up to 9; no edge where the number is `missing` or less.
EdgeCosts random_costs(std::mt19937& random, std::size_t n, int missing) {
  std::uniform_int_distribution<int> cost(0, 9);
  EdgeCosts costs(n, std::vector<double>(n, kNoEdge));
  for (auto& row : costs)
    for (auto& entry : row)
      if (auto const value = cost(random); value > missing) entry = value;
  return costs;
}

TEST(CheapestArborescence, CostsAsMuchAsTheBestOfAll) {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same graphs every time
  for (int graph = 0; graph < 60; ++graph) {
    std::size_t const n = 2 + static_cast<std::size_t>(graph) % 4;
    auto const costs = random_costs(random, n, 1);
    auto const root = static_cast<std::size_t>(graph) % n;
    auto const best = cheapest_of_all(costs, root);
    auto const found = cheapest_arborescence(costs, root);
    ASSERT_EQ(found.has_value(), best < kNoEdge) << graph;
    if (found) {
      EXPECT_EQ(cost_of(costs, *found, root), best) << graph;
    }
  }
}

TEST(ShortestPaths, AreAsShortAsThereAre) {
  std::mt19937 random(11);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same graphs every time
  constexpr double kHop = 0.5;
  for (int graph = 0; graph < 60; ++graph) {
    std::size_t const n = 3 + static_cast<std::size_t>(graph) % 4;
    auto const costs = random_costs(random, n, 3);
    auto shortest = costs;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) shortest[i][j] = i == j ? 0 : costs[i][j] + kHop;
    for (std::size_t via = 0; via < n; ++via)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          shortest[i][j] = std::min(shortest[i][j], shortest[i][via] + shortest[via][j]);
    auto const terminals = n - 1;  // the last may be on the way or not
    auto const found = shortest_paths(costs, 0, kHop, terminals);
    bool const all_reached =
        std::all_of(shortest[0].begin(), shortest[0].begin() + static_cast<std::ptrdiff_t>(terminals),
                    [](double distance) { return distance < kNoEdge; });
    ASSERT_EQ(found.has_value(), all_reached) << graph;
    if (!found) continue;
    std::map<std::size_t, double> distance{{0, 0}};
    bool last_is_used = false;
    for (auto const& [from, to] : *found) {
      ASSERT_TRUE(distance.contains(from)) << graph;
      last_is_used = last_is_used || from == terminals;
      EXPECT_TRUE(distance.emplace(to, distance[from] + costs[from][to] + kHop).second) << graph;
    }
    for (std::size_t i = 0; i < terminals; ++i) EXPECT_DOUBLE_EQ(distance.at(i), shortest[0][i]) << graph;
    EXPECT_EQ(distance.contains(terminals), last_is_used) << graph;
  }
}

}  // namespace
}  // namespace lanewise
