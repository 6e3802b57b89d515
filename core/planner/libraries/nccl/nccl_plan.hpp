#pragma once
// A collective as NCCL does it: its decisions, and the steps that follow from them.
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/planner/libraries/library_name.hpp"

namespace lanewise::nccl {

// `library` must be an NCCL. Throws PlanError where NCCL refuses or it is not known what it does.
Plan plan_of(Model const& model, Collective const& collective, Library const& library);

}  // namespace lanewise::nccl
