#pragma once
// The all-to-all of an inference engine, by which tokens reach their experts: warps that each carry one token at a
// time.
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::engine {

// As TensorRT-LLM does it over NVLink (NVLinkTwoSided). Throws PlanError for GPUs that NVLink does not join.
Plan token_exchange(Model const& model, Collective const& collective);

}  // namespace lanewise::engine
