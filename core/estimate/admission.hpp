#pragma once
// Admission control: holds steps back while a resource that they use is full, although their engines are free.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/estimate/engine_queue.hpp"
#include "core/estimate/flow_set.hpp"
#include "core/estimate/schedule.hpp"
#include "lanewise/estimate/estimate.hpp"

namespace lanewise {

class Admission {
 public:
  // Everything must outlive it. `max_utilisation`: of every capacity, by the steps that run, each counted at the rate
  // that it has alone; a step that is alone on a resource always fits.
  Admission(FlowSet const& flows, std::span<Step const> steps, std::span<StepDemand const> demands,
            EngineQueue& engines, double max_utilisation, Priority priority);

  // The step waits for nothing but admission now.
  void ready(std::size_t step);
  // The step ended: frees its engines and capacities.
  void finished(std::size_t step);
  // Calls begin(step) for every waiting step that fits now, by priority. `ended`: the steps that ended since the last
  // call, ascending. Only they can have made room, so steps that began wait for them.
  template <class Begin>
  void admit(std::span<std::size_t const> ended, Begin&& begin) {
    find_admissible(ended);
    for (auto const step : admissible_) {
      if (!fits_now(step)) continue;  // one before it took the room
      take(step, ended);
      begin(step);
    }
  }

  // Which step's end let which step begin.
  [[nodiscard]] std::vector<OrderOnly> take_order() { return std::move(order_); }

 private:
  // What a step that runs alone takes of a capacity.
  struct UseAlone {
    std::uint32_t resource = 0;
    double utilisation = 0;
  };

  // The work left for the busiest thing that a step needs, and for the next busiest, in units of kEqualWork.
  struct Urgency {
    double most = 0;
    double next = 0;
  };

  void find_admissible(std::span<std::size_t const> ended);
  void take(std::size_t step, std::span<std::size_t const> ended);
  [[nodiscard]] bool fits_now(std::size_t step) const { return engines_.are_free(step) && fits_capacities(step); }
  [[nodiscard]] bool fits_capacities(std::size_t step) const;
  [[nodiscard]] std::span<UseAlone const> alone(std::size_t step) const {
    return std::span(alone_).subspan(first_use_[step], first_use_[step + 1] - first_use_[step]);
  }
  void note_needs();
  [[nodiscard]] std::span<std::uint64_t const> needs_of(std::size_t step) const {
    return std::span(needs_).subspan(step * words_, words_);
  }
  [[nodiscard]] bool needs_any(std::size_t step, std::span<std::uint64_t const> of) const;
  [[nodiscard]] bool needs_freed(std::size_t step) const;
  void sort_by_urgency();
  void add_work(std::size_t step, double sign);

  std::span<Sharing::Flow const> flows_;
  std::vector<double> const& capacities_;
  std::span<Step const> steps_;
  std::span<StepDemand const> demands_;
  EngineQueue& engines_;
  double max_utilisation_;
  Priority priority_;
  std::vector<double> rate_alone_;      // of a step
  std::vector<UseAlone> alone_;         // of all steps, one after another
  std::vector<std::size_t> first_use_;  // of a step: its first among these
  std::vector<double> utilisation_;     // of a capacity, by the steps that run at their rates alone
  std::vector<OrderOnly> order_;
  std::vector<std::size_t> waiting_;     // ascending
  std::vector<std::size_t> admissible_;  // of these, those that fitted when the search for them ended
  std::vector<char> is_held_back_;       // of a step: it waits, and did not fit when it was last examined
  // Sets of bits, one for every capacity and one for every engine after them.
  std::size_t words_ = 0;                 // of a set
  std::vector<std::uint64_t> needs_;      // of each step, one set after another
  std::vector<std::uint64_t> freed_;      // by steps that just ended
  std::vector<std::size_t> freed_words_;  // those of its words that are not 0
  // For Priority::BottleneckFirst.
  std::vector<int> slots_;           // of an engine
  std::vector<double> work_;         // seconds left for a capacity
  std::vector<double> engine_work_;  // and for an engine
  std::vector<Urgency> urgency_;     // of a step
};

}  // namespace lanewise
