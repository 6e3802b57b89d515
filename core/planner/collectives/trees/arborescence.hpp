#pragma once
// Arborescences: trees of directed edges by which every vertex is reached from a root.
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace lanewise {

// [from][to]; infinite where there is no edge.
using EdgeCosts = std::vector<std::vector<double>>;
constexpr double kNoEdge = std::numeric_limits<double>::infinity();
using Edges = std::vector<std::pair<std::size_t, std::size_t>>;  // (from, to), each after the edge that reaches `from`

// The parent of each vertex in an arborescence of least total cost; the root is its own parent. Nullopt if a vertex
// cannot be reached. (Chu and Liu 1965, Edmonds 1967: a cycle of cheapest incoming edges is contracted to one vertex,
// and an edge that enters it costs what it costs more than the edge that it would replace.)
std::optional<std::vector<std::size_t>> cheapest_arborescence(EdgeCosts const& costs, std::size_t root);

struct CheapestTree {
  double cost = 0;
  Edges edges;
};
// The cheapest arborescence that reaches the first `terminals` vertices by way of any of the others (a Steiner
// arborescence), by trying every subset of the others. Nullopt if a terminal cannot be reached.
std::optional<CheapestTree> cheapest_steiner_tree(EdgeCosts const& costs, std::size_t root, std::size_t terminals);

// The tree of shortest paths (Dijkstra 1959) to the first `terminals` vertices, if each edge costs `hop_cost` more.
// Nullopt if a terminal cannot be reached.
std::optional<Edges> shortest_paths(EdgeCosts const& costs, std::size_t root, double hop_cost, std::size_t terminals);

}  // namespace lanewise
