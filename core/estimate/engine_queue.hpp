#pragma once
// The engines of a machine while steps run: a step holds a slot of each of its engines from its start to its end. The
// estimate and the simulator both use it, so they start steps in the same order.
#include <span>
#include <vector>

#include "core/model/model.hpp"

namespace lanewise {

class EngineQueue {
 public:
  // `demands`: one a step; they must outlive the queue.
  EngineQueue(Resources const& resources, std::span<Demand const> demands) : demands_(demands) {
    for (std::size_t i = 0; i < resources.engine_count(); ++i) free_.push_back(resources.at(EngineId(i)).slots);
  }

  // Calls start(step) if its engines are free; else the step waits, first come, first served.
  template <class Start>
  void ready(std::size_t step, Start&& start) {
    if (!take(step)) return waiting_.push_back(step);
    start(step);
  }
  // Frees the step's engines and calls start(other) for each waiting step that can have its engines now.
  template <class Start>
  void finished(std::size_t step, Start&& start) {
    if (demands_[step].engines.empty()) return;
    release(step);
    std::erase_if(waiting_, [&](std::size_t waiting) {
      if (!take(waiting)) return false;
      start(waiting);
      return true;
    });
  }

  // For callers with a queue of their own. take(): all of the step's engines or none.
  [[nodiscard]] bool are_free(std::size_t step) const {
    for (auto const engine : demands_[step].engines)
      if (free_[index(engine)] <= 0) return false;
    return true;
  }
  bool take(std::size_t step) {
    auto const& engines = demands_[step].engines;
    for (std::size_t k = 0; k < engines.size(); ++k) {
      if (free_[index(engines[k])]-- > 0) continue;
      for (std::size_t back = 0; back <= k; ++back) ++free_[index(engines[back])];
      return false;
    }
    return true;
  }
  void release(std::size_t step) {
    for (auto const engine : demands_[step].engines) ++free_[index(engine)];
  }
  [[nodiscard]] std::vector<int> const& free_slots() const { return free_; }  // by EngineId

 private:
  std::span<Demand const> demands_;
  std::vector<int> free_;
  std::vector<std::size_t> waiting_;
};

}  // namespace lanewise
