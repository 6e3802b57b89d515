#pragma once
// The longest paths through steps that wait for one another (critical path method, Kelley and Walker 1959), for many
// durations of the same steps; longest_paths() of core/plan/dag.hpp answers once.
#include <cstdint>
#include <span>
#include <vector>

#include "lanewise/plan/plan.hpp"

namespace lanewise {

class CriticalPaths {
 public:
  // A step waits for those in its `order_only`, which come before it in the list. Other waits do not count.
  explicit CriticalPaths(std::vector<Step> const& steps);

  // The makespan if every step starts as early as it may. `durations`: one a step, in any unit.
  double makespan(std::span<double const> durations);

  // By how much the last makespan grows for each unit that a step takes longer. Paths shorter than the longest by up to
  // `near` count as well, the less the shorter they are: when the longest get shorter, these are the next. Of two
  // steps that only one path each passes, with both as long, each has 1 / 2.
  std::span<double const> criticality(double near);

 private:
  [[nodiscard]] std::span<std::uint32_t const> before(std::size_t step) const {
    return std::span(before_).subspan(first_[step], first_[step + 1] - first_[step]);
  }
  [[nodiscard]] double start_of(std::size_t step) const;

  std::vector<std::uint32_t> before_;      // steps that each step waits for, step by step
  std::vector<std::uint32_t> first_;       // of each step's; one more for the end of the last
  std::vector<std::uint32_t> last_steps_;  // that none waits for
  std::vector<double> ends_;
  double makespan_ = 0;
  std::vector<double> criticality_;
};

}  // namespace lanewise
