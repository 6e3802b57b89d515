#pragma once
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/planner/aim.hpp"

namespace lanewise {

// Whether the collective can be planned as a set: each block goes straight from who has it to who needs it, and nobody
// waits for anybody. So many blocks at most, among GPUs of one node.
bool can_be_planned_as_set(Collective const& collective, Machine const& machine);

// The plan of a collective with its blocks planned together as a set of transfers: each may be divided over several
// ways, and what contends goes one after another, by copy engines or by kernels. `direct`: a plan that sends every
// block in one step. Pieces are multiples of 16 bytes where blocks are. Throws PlanError if nothing copies between two
// of the GPUs.
Plan planned_as_set(Model const& model, Plan const& direct, Effort effort);

}  // namespace lanewise
