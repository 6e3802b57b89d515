#pragma once
// A collective as AMD's RCCL does it where xGMI joins every two GPUs of a node: rings that share no link, or all pairs
// at once for few bytes.
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::rccl {

// Throws PlanError for other nodes, and for what RCCL does that is not known.
Plan plan_of(Model const& model, Collective const& collective);

}  // namespace lanewise::rccl
