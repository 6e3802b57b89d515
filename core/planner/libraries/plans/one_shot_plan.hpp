#pragma once
// The all-reduce kernel of an inference engine: every GPU loads what all others hold, over NVLink or PCIe peer access.
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::engine {

// As vLLM does it within a CUDA graph. Throws PlanError where the engine has no kernel for these GPUs.
Plan plan_of(Model const& model, Collective const& collective);

}  // namespace lanewise::engine
