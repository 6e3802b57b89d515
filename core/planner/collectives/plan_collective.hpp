#pragma once
// Plans a collective on a machine: tries every suitable algorithm, gives each of its transfers the best way, and takes
// the plan with the shortest estimated time.
#include <vector>

#include "core/model/model.hpp"
#include "core/plan/plan.hpp"

namespace lanewise {

// The plan by the collective's algorithm; for Algorithm::Auto the plan with the shortest estimate. Throws PlanError if
// the request is malformed, if the algorithm cannot do this collective here, or if two participants have no way
// between them.
Plan plan_collective(Model const& model, Collective const& collective);
// At least one plan by every algorithm that can do it, shortest estimate first. Throws as plan_collective() does.
std::vector<Plan> plans_of_collective(Model const& model, Collective const& collective);

}  // namespace lanewise
