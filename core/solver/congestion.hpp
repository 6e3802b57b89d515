#pragma once
// Room in linear programs of what goes over what. A program whose answer is through earliest fills many things to the
// brim, and then whoever comes late to one of them makes others late. Of all answers that take hardly longer, that one
// is easier to keep to which leaves most of everything idle for part of the time.
#include "core/solver/linear_program.hpp"

namespace lanewise {

// By how much such an answer may take longer than the earliest, as a fraction.
constexpr double kCongestionSlack = 0.05;
// Up to which part of the time something may be busy at no cost.
constexpr double kUncongestedUtilisation = 0.6;

// Lets what a row limits be busy for longer than that, up to all of `makespan` and kCongestionSlack, each further part
// at a higher cost. `width`: what the row's thing moves in a unit of time.
inline void add_congestion_cost(LinearProgram& program, int row, double width, double makespan) {
  struct Further {
    double of_time = 0;
    double cost = 0;
  };
  constexpr Further kParts[] = {
      {0.1, 1}, {0.1, 2}, {0.1, 4}, {1 + kCongestionSlack - kUncongestedUtilisation - 0.3, 8}};
  for (auto const& part : kParts) {
    program.entries.push_back({row, -width});
    program.entries.push_back({program.add_row({.upper = part.of_time * makespan}), 1});
    program.end_column(part.cost);
  }
}

}  // namespace lanewise
