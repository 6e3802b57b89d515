#pragma once
#include <span>
#include <vector>

#include "core/estimate/step_demands.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/trace.hpp"

namespace lanewise {

// What each resource carries while a plan runs, busiest first: every step's bytes, times what one of them takes of the
// resource. Posted-write limits that apply come after the resources. `demands`: one a step, as demands_of() makes them.
std::vector<ResourceTrace> resource_usage(Model const& model, std::span<Step const> steps,
                                          std::span<StepDemand const> demands, Seconds makespan);

}  // namespace lanewise
