#pragma once
// Plans of a transfer set made from schedules: segments that move when the schedule says, in an order that keeps to it.
#include <optional>

#include "core/planner/sets/draft.hpp"

namespace lanewise {

struct ScheduledTrials {
  // The best found. Absent without a solver, or where no schedule moves all transfers.
  std::optional<Evaluation> best;
  // How the best schedules divide the bytes: for drafts that keep to no schedule.
  std::vector<std::vector<Shares>> shares;
};

// For transfers that may all begin at once and that may all be divided. `known`: the makespan of the best plan so far.
// Takes milliseconds for sets up to ScheduleLimits::small_set, seconds for 56 transfers.
ScheduledTrials evaluate_schedules(TransferSet const& set, Model const& model, Seconds known);

}  // namespace lanewise
