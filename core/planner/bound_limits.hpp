#pragma once
#include <cstddef>

namespace lanewise {

// The tuning constants of lower bounds: how much work each bound is worth. A bound stays valid at any value; smaller
// limits only make it weaker. docs/planner-limits.md gives the reason and evidence of each.
struct BoundLimits {
  std::size_t max_columns = 20000;  // ways in the linear program of a set of transfers
  int max_engine_rounds = 4;        // of adding constraints on shared engines
  std::size_t engine_rounds_max_columns = 2000;
  double min_engine_remainder = 0.02;  // of a capacity, beyond a whole number of flows
  double min_violation = 1e-4;         // of an engine constraint, relative
  double setup_cost_weight = 0.1;      // in the least congested division
  std::size_t configurations_max_transfers = 16;
  std::size_t max_programs = 400;            // linear programs of one branch and bound
  double worth_tolerance = 0.002;            // of branch and bound, relative
  std::size_t groups_max_participants = 16;  // of the linear programs of a collective
  double min_reported_share = 1e-4;          // of a binding constraint of a set of transfers
  double min_reported_share_of_collective = 1e-6;
};
inline constexpr BoundLimits kBoundLimits{};

}  // namespace lanewise
