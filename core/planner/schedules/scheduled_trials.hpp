#pragma once
// A plan of a set made from a schedule: pieces that move when the schedule has them move, in turns that keep to it.
#include <optional>

#include "core/planner/sets/draft.hpp"

namespace lanewise {

struct ScheduledTrials {
  // The best found. Absent without a solver, or where no schedule moves all transfers.
  std::optional<Evaluation> best;
  std::vector<std::vector<Shares>> shares;  // how the best of them divide the bytes: drafts of plans that keep to none
};

// Of transfers that may all begin at once; every transfer may go in pieces. `known`: what the best plan so far takes.
// Milliseconds for some transfers, seconds for 56.
ScheduledTrials evaluate_schedules(TransferSet const& set, Model const& model, Seconds known);

}  // namespace lanewise
