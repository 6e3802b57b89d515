#pragma once
// Which steps may start now. Every executor uses it, so simulated and real runs obey the same order.
#include <vector>

#include "core/plan/dag.hpp"

namespace lanewise {

class DagRunner {
 public:
  // Throws PlanError when a dependency is missing or circular.
  explicit DagRunner(std::span<Step const> steps) : DagRunner(dag_of(steps)) { require_acyclic(dag_); }
  // Of a graph that may have a cycle: then not all steps ever start, and done() stays false.
  explicit DagRunner(Dag dag) : dag_(std::move(dag)), missing_(dag_.predecessors()), left_(dag_.size()) {}

  // start(StepId) for every step that waits for nothing.
  template <class Start>
  void begin(Start&& start) {
    for (std::size_t i = 0; i < dag_.size(); ++i)
      if (dag_.predecessors()[i] == 0) start(StepId(i));
  }

  // start(StepId) for every step that this one was the last to hold back.
  template <class Start>
  void finished(StepId step, Start&& start) {
    --left_;
    for (auto const next : dag_.successors(index(step)))
      if (--missing_[next] == 0) start(StepId(next));
  }

  [[nodiscard]] bool done() const { return left_ == 0; }

 private:
  Dag dag_;
  std::vector<std::uint32_t> missing_;  // predecessors of a step that have not finished
  std::size_t left_;
};

}  // namespace lanewise
