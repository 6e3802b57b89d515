#pragma once
// The demands of a plan's steps as they run: the model's of each move, those of reductions and computations, and the
// costs between one step and the next.
#include <vector>

#include "core/estimate/step_demands.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

// Of one step alone. A reduction also reads and writes what the target holds. A computation holds its GPU's
// multiprocessors for its duration.
Demand demand_of(Model const& model, Step const& step);

// The same while other copy engines of its GPUs are busy, which slows rings of chunks.
Demand demand_with_busy_engines(Model const& model, Step const& step);

// Of all steps, with the costs between them; of a folded plan's with those that they stand for. Throws PlanError naming
// a step for which a figure is unknown.
StepDemands demands_of(Model const& model, std::vector<Step> const& steps, Folding const& folding = {});
// The same of steps whose `demands` alone are known, one a step.
StepDemands demands_together(Model const& model, std::vector<Step> const& steps, StepDemands demands);

// What a step needs alone. Throws PlanError naming it where a figure is unknown.
Demand known_demand_of(Model const& model, Step const& step);

// Whether two steps hold slots of the same engine.
bool share_an_engine(StepDemand const& one, StepDemand const& other);

}  // namespace lanewise
