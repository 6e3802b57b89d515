#pragma once
// The cheapest way to reach everyone from one.
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace lanewise {

// [from][to]; infinite where there is no edge.
using EdgeCosts = std::vector<std::vector<double>>;
constexpr double kNoEdge = std::numeric_limits<double>::infinity();

// From whom each is reached, so that the edges in use cost least together; the root's own entry is itself. Nullopt
// where somebody cannot be reached. (Chu and Liu 1965, Edmonds 1967: where the cheapest edges into everyone close a
// circle, it is taken as one place whose other edges cost what they cost more than the one they would replace.)
std::optional<std::vector<std::size_t>> cheapest_arborescence(EdgeCosts const& costs, std::size_t root);

using Edges = std::vector<std::pair<std::size_t, std::size_t>>;  // from, to: none before the one that reaches `from`
// The tree of the shortest paths (Dijkstra 1959) to the first `wanted` of all, where each edge costs `hop` more.
// Nullopt where one of them cannot be reached.
std::optional<Edges> shortest_paths(EdgeCosts const& costs, std::size_t root, double hop, std::size_t wanted);

}  // namespace lanewise
