#pragma once
// The engines of a machine while steps run: a step holds a slot of each of its engines from its start to its end. The
// estimate and the simulator both use it, so they start steps in the same order.
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "core/estimate/step_demands.hpp"
#include "lanewise/model/model.hpp"

namespace lanewise {

class EngineQueue {
 public:
  // `demands`: one a step; they must outlive the queue.
  EngineQueue(Model const& model, std::span<StepDemand const> demands)
      : demands_(demands), waiting_(model.resources().engine_count()) {
    for (std::size_t i = 0; i < waiting_.size(); ++i) free_.push_back(model.slots(EngineId(i)));
  }

  // Calls start(step) if its engines are free; else the step waits, first come, first served.
  template <class Start>
  void ready(std::size_t step, Start&& start) {
    if (take(step)) return start(step);
    for (auto const engine : demands_[step].engines) waiting_[index(engine)].push_back({arrivals_, step});
    ++arrivals_;
  }
  // Frees the step's engines and calls start(other) for each waiting step that can have its engines now. Only those
  // that wait for one of the freed engines can.
  template <class Start>
  void finished(std::size_t step, Start&& start) {
    release(step);
    std::size_t from = 0;  // arrivals before have been asked
    while (auto const next = next_waiting(demands_[step].engines, from)) {
      from = next->arrival + 1;
      if (!take(next->step)) continue;
      forget(*next);
      start(next->step);
    }
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
  struct Waiting {
    std::size_t arrival = 0;
    std::size_t step = 0;
  };

  [[nodiscard]] static auto first_from(std::vector<Waiting> const& waiting, std::size_t arrival) {
    return std::lower_bound(waiting.begin(), waiting.end(), arrival,
                            [](Waiting const& one, std::size_t other) { return one.arrival < other; });
  }
  // The first that came at `from` or later and waits for one of these engines that is free.
  [[nodiscard]] std::optional<Waiting> next_waiting(StepDemand::Engines const& engines, std::size_t from) const {
    std::optional<Waiting> next;
    for (auto const engine : engines) {
      auto const& waiting = waiting_[index(engine)];
      if (free_[index(engine)] <= 0 || waiting.empty()) continue;
      auto const found = first_from(waiting, from);
      if (found != waiting.end() && (!next || found->arrival < next->arrival)) next = *found;
    }
    return next;
  }
  void forget(Waiting const& started) {
    for (auto const engine : demands_[started.step].engines) {
      auto& waiting = waiting_[index(engine)];
      waiting.erase(first_from(waiting, started.arrival));
    }
  }

  std::span<StepDemand const> demands_;
  std::vector<int> free_;
  std::vector<std::vector<Waiting>> waiting_;  // for each engine, in the order in which they came
  std::size_t arrivals_ = 0;
};

}  // namespace lanewise
