#pragma once
// A congestion cost for linear programs that divide flows over resources. The fastest solution saturates many
// resources, so one late step delays the rest. Of all solutions that take hardly longer, the one with the least
// congestion is the easiest to keep to in a real run. The cost of a resource is convex and piecewise linear in its
// utilisation, as in traffic engineering (Fortz and Thorup, 2000).
#include "core/solver/linear_program.hpp"

namespace lanewise {

// The makespan of a less congested solution, as a fraction above the least one.
constexpr double kCongestionSlack = 0.05;
// A resource may be busy for this fraction of the makespan at no cost.
constexpr double kUncongestedUtilisation = 0.6;

// Adds columns that let the resource of `row` be busy for longer than kUncongestedUtilisation, up to all of `makespan`
// and kCongestionSlack, at a cost that rises with each interval. `capacity`: what the resource moves in a unit of time.
// The row itself must keep the resource busy for at most kUncongestedUtilisation of the makespan.
inline void add_congestion_cost(LinearProgram& program, int row, double capacity, double makespan) {
  struct CostInterval {
    double of_makespan = 0;
    double cost = 0;
  };
  constexpr CostInterval kIntervals[] = {
      {0.1, 1}, {0.1, 2}, {0.1, 4}, {1 + kCongestionSlack - kUncongestedUtilisation - 0.3, 8}};
  for (auto const& interval : kIntervals) {
    program.entries.push_back({row, -capacity});
    program.entries.push_back({program.add_row({.upper = interval.of_makespan * makespan}), 1});
    program.end_column(interval.cost);
  }
}

}  // namespace lanewise
