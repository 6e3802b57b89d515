#include "core/plan/dag.hpp"

#include <algorithm>
#include <functional>

namespace lanewise {

Dag dag_of(std::span<Step const> steps) {
  return Dag(steps.size(), [&](auto const& add) {
    for (std::size_t i = 0; i < steps.size(); ++i)
      for (auto const* list : {&steps[i].after, &steps[i].order_only})
        for (auto const before : *list) add(index(before), i);
  });
}

std::vector<Dag::Node> topological_order(Dag const& dag) {
  auto missing = dag.predecessors();
  std::vector<Dag::Node> order;
  order.reserve(dag.size());
  for (std::size_t i = 0; i < dag.size(); ++i)
    if (missing[i] == 0) order.push_back(static_cast<Dag::Node>(i));
  for (std::size_t k = 0; k < order.size(); ++k)
    for (auto const next : dag.successors(order[k]))
      if (--missing[next] == 0) order.push_back(next);
  if (order.size() != dag.size()) throw PlanError("the plan's steps wait for one another in a circle");
  return order;
}

std::vector<StepId> topological_order(std::span<Step const> steps) {
  auto const order = topological_order(dag_of(steps));
  std::vector<StepId> ids(order.size());
  std::transform(order.begin(), order.end(), ids.begin(), [](Dag::Node node) { return StepId(node); });
  return ids;
}

void require_acyclic(Dag const& dag) { static_cast<void>(topological_order(dag)); }

std::vector<Dag::Node> order_by_sweeps(Dag const& dag) {
  auto missing = dag.predecessors();
  std::vector<Dag::Node> order;
  std::vector<bool> is_taken(dag.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < dag.size(); ++i) {
      if (is_taken[i] || missing[i] > 0) continue;
      is_taken[i] = changed = true;
      order.push_back(static_cast<Dag::Node>(i));
      for (auto const next : dag.successors(i)) --missing[next];
    }
  }
  return order;
}

std::vector<std::size_t> levels(Dag const& dag) {
  std::vector<std::size_t> level(dag.size(), 0);
  for (auto const node : topological_order(dag))
    for (auto const next : dag.successors(node)) level[next] = std::max(level[next], level[node] + 1);
  return level;
}

LongestPaths longest_paths(Dag const& dag, std::span<double const> lengths) {
  auto const none = std::vector<std::size_t>(dag.size(), LongestPaths::kNone);
  LongestPaths paths{std::vector<double>(dag.size(), 0), std::vector<double>(dag.size(), 0), none, none};
  auto const order = topological_order(dag);
  for (auto const node : order)
    for (auto const next : dag.successors(node))
      if (auto const head = paths.head[node] + lengths[node]; head >= paths.head[next]) {
        paths.head[next] = head;
        paths.predecessor[next] = node;
      }
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    for (auto const next : dag.successors(*it))
      if (auto const tail = lengths[next] + paths.tail[next]; tail >= paths.tail[*it]) {
        paths.tail[*it] = tail;
        paths.successor[*it] = next;
      }
  return paths;
}

Ancestors::Ancestors(Dag const& dag) : words_(words_for(dag.size())), bits_(dag.size() * words_, 0) {
  auto const of = [&](std::size_t node) { return std::span(bits_).subspan(node * words_, words_); };
  for (auto const node : topological_order(dag))
    for (auto const next : dag.successors(node)) {
      std::transform(of(next).begin(), of(next).end(), of(node).begin(), of(next).begin(), std::bit_or<>());
      set_bit(of(next), node);
    }
}

}  // namespace lanewise
