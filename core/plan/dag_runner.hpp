#pragma once
// Which steps may start now. Every executor uses it, so simulated and real runs obey the same order.
#include <vector>

#include "core/io/error.hpp"
#include "core/plan/plan.hpp"

namespace lanewise {

class DagRunner {
 public:
  // Throws PlanError when a dependency is missing or circular.
  explicit DagRunner(std::vector<Step> const& steps)
      : missing_(steps.size()), next_(steps.size()), left_(steps.size()) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      for (auto const* list : {&steps[i].after, &steps[i].order_only})
        for (auto const before : *list) {
          if (index(before) >= steps.size()) throw PlanError("a step waits for one that is not in the plan");
          next_[index(before)].push_back(StepId(i));
          ++missing_[i];
        }
    }
    refuse_cycles();
  }

  // start(StepId) for every step that waits for nothing.
  template <class Start>
  void begin(Start&& start) {
    auto const ready = missing_;
    for (std::size_t i = 0; i < ready.size(); ++i)
      if (ready[i] == 0) start(StepId(i));
  }

  // start(StepId) for every step that this one was the last to hold back.
  template <class Start>
  void finished(StepId step, Start&& start) {
    --left_;
    for (auto const next : next_[index(step)])
      if (--missing_[index(next)] == 0) start(next);
  }

  [[nodiscard]] bool done() const { return left_ == 0; }

 private:
  void refuse_cycles() const {
    auto missing = missing_;
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < missing.size(); ++i)
      if (missing[i] == 0) ready.push_back(i);
    std::size_t seen = 0;
    while (!ready.empty()) {
      auto const step = ready.back();
      ready.pop_back();
      ++seen;
      for (auto const next : next_[step])
        if (--missing[index(next)] == 0) ready.push_back(index(next));
    }
    if (seen != missing.size()) throw PlanError("the plan's steps wait for one another in a circle");
  }

  std::vector<int> missing_;
  std::vector<std::vector<StepId>> next_;
  std::size_t left_;
};

// All steps, none before one that it waits for: first those that wait for nothing, as they are listed. Throws as above.
inline std::vector<StepId> in_order(std::vector<Step> const& steps) {
  DagRunner runner(steps);
  std::vector<StepId> order;
  auto const add = [&](StepId id) { order.push_back(id); };
  runner.begin(add);
  for (std::size_t done = 0; done < order.size();) {  // finished() adds to what is ready
    auto const id = order[done++];
    runner.finished(id, add);
  }
  return order;
}

}  // namespace lanewise
