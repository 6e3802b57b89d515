#pragma once
// Directed acyclic graphs of numbered nodes: the one place for topological order, levels, longest paths and ancestors.
//
//   Dag const dag = dag_of(plan.steps);  // an edge from each step to every step that waits for it
//   for (auto const step : topological_order(dag)) ...
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/units/bits.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

// The edges of a graph, from each node to its successors, in two arrays (compressed sparse rows).
class Dag {
 public:
  using Node = std::uint32_t;

  Dag() = default;
  // `each_edge(add)` calls add(before, after) for every edge; it is called twice and must name the same edges in the
  // same order. A node's successors keep that order. An edge named twice counts twice. Throws PlanError when an edge
  // names a node that is not there.
  template <class EachEdge>
  Dag(std::size_t nodes, EachEdge const& each_edge) : first_(nodes + 1, 0), predecessors_(nodes, 0) {
    each_edge([&](std::size_t before, std::size_t after) {
      if (before >= nodes || after >= nodes) throw PlanError("a step waits for one that is not in the plan");
      ++first_[before + 1];
      ++predecessors_[after];
    });
    for (std::size_t i = 0; i < nodes; ++i) first_[i + 1] += first_[i];
    successors_.resize(first_[nodes]);
    each_edge(
        [this](std::size_t before, std::size_t after) { successors_[first_[before]++] = static_cast<Node>(after); });
    for (auto i = nodes; i > 0; --i) first_[i] = first_[i - 1];  // filling moved each to where the next one begins
    first_[0] = 0;
  }

  [[nodiscard]] std::size_t size() const { return predecessors_.size(); }
  [[nodiscard]] std::span<Node const> successors(std::size_t node) const {
    return std::span(successors_).subspan(first_[node], first_[node + 1] - first_[node]);
  }
  // For each node, the number of edges that end there.
  [[nodiscard]] std::vector<std::uint32_t> const& predecessors() const { return predecessors_; }

 private:
  std::vector<std::uint32_t> first_ = {0};  // where the successors of a node begin
  std::vector<Node> successors_;
  std::vector<std::uint32_t> predecessors_;
};

// Both `after` and `order_only`.
Dag dag_of(std::span<Step const> steps);

// Of anything whose member `after` lists what it waits for, by number: steps without their `order_only`, transfers.
template <class Items>
Dag dag_of_after(Items const& items) {
  return Dag(items.size(), [&](auto const& add) {
    for (std::size_t i = 0; i < items.size(); ++i)
      for (auto const before : items[i].after) add(static_cast<std::size_t>(before), i);
  });
}

// Kahn's algorithm (1962): first the nodes without predecessors, ascending; then each node when its last predecessor
// has been listed. Throws PlanError when the graph has a cycle; so do the functions below, unless they say otherwise.
std::vector<Dag::Node> topological_order(Dag const& dag);
std::vector<StepId> topological_order(std::span<Step const> steps);
void require_acyclic(Dag const& dag);
// The topological order nearest to the list: goes through the nodes as they are numbered, again and again, and takes
// each whose predecessors have all been taken. Leaves out what waits for a cycle.
std::vector<Dag::Node> order_by_sweeps(Dag const& dag);

// For each node, the number of edges on the longest path that ends there.
std::vector<std::size_t> levels(Dag const& dag);

// The longest paths through each node; the length of a path is the sum of its nodes' `lengths`.
struct LongestPaths {
  static constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<double> head;              // the length of the longest path up to a node, without it
  std::vector<double> tail;              // and of the longest path from it on, without it
  std::vector<std::size_t> predecessor;  // the node before it on the first path, or kNone
  std::vector<std::size_t> successor;    // the node after it on the second path, or kNone
};
// Of equally long paths, the one through the predecessor last in topological order, and through the last successor.
LongestPaths longest_paths(Dag const& dag, std::span<double const> lengths);

// For each node all nodes from which a path leads to it, as a set of bits: n * n / 8 bytes.
class Ancestors {
 public:
  Ancestors() = default;
  explicit Ancestors(Dag const& dag);
  [[nodiscard]] bool has(std::size_t node, std::size_t ancestor) const { return has_bit(row(node), ancestor); }
  // Whether a path leads from one of the two to the other.
  [[nodiscard]] bool are_ordered(std::size_t a, std::size_t b) const { return has(a, b) || has(b, a); }

 private:
  [[nodiscard]] std::span<std::uint64_t const> row(std::size_t node) const {
    return std::span(bits_).subspan(node * words_, words_);
  }
  std::size_t words_ = 0;  // of a node
  std::vector<std::uint64_t> bits_;
};

}  // namespace lanewise
