#pragma once
// Plans of a transfer set made from schedules: segments that move when the schedule says, in an order that keeps to it.
#include <limits>
#include <optional>

#include "core/planner/sets/draft.hpp"

namespace lanewise {

struct ScheduledTrials {
  // The best found. Absent without a solver, or where no schedule moves all transfers.
  std::optional<Evaluation> best;
  // How the best schedules divide the bytes: for drafts that keep to no schedule.
  std::vector<std::vector<Shares>> shares;
};

// The best plan of a set so far.
struct KnownPlan {
  Seconds makespan{0};
  Evaluation const& evaluation;  // from which the search starts; may be empty
};

// For transfers that may all begin at once and that may all be divided. Takes milliseconds for sets up to
// ScheduleLimits::small_set, some hundred of them for 56 transfers. `wanted`: a plan that takes longer is of no use, so
// a larger set is searched further where `known` takes longer and the best schedule only a little.
ScheduledTrials evaluate_schedules(TransferSet const& set, Model const& model, KnownPlan const& known,
                                   Seconds wanted = Seconds(std::numeric_limits<double>::infinity()));

}  // namespace lanewise
