#pragma once
// A plan of a set made from a schedule: pieces that move when the schedule has them move, in turns that keep to it.
#include <optional>

#include "core/planner/sets/draft.hpp"

namespace lanewise {

struct ScheduledTrials {
  std::optional<Evaluation>
      evaluation;  // the best found; none without a solver, or where no schedule has all transfers
  std::vector<std::vector<Shares>> shares;  // how the best of them divide the bytes: drafts of plans that keep to none
};

// Of transfers that may all begin at once; every transfer may go in pieces. `known`: what the best plan so far takes.
// Milliseconds for some transfers, seconds for 56.
ScheduledTrials evaluate_schedules(TransferSet const& set, Model const& model, Seconds known);

}  // namespace lanewise
