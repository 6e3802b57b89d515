#pragma once
#include <vector>

#include "core/planner/choice/way_cache.hpp"
#include "core/planner/collectives/algorithms/transfer_schedule.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

// A schedule as a plan, each transfer with its way. `places`: the participants, then the host memories that the
// schedule passes. Throws PlanError if no way between two places is legal.
Plan plan_of_schedule(Model const& model, Collective const& collective, std::vector<Place> const& places,
                      Algorithm algorithm, TransferSchedule const& schedule, WayCache& ways);

}  // namespace lanewise
