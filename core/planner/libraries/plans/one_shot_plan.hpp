#pragma once
// The kernels of inference engines. Of an all-reduce every GPU loads what all others hold, over NVLink or PCIe peer
// access; an all-to-all exchanges tokens (token_exchange_plan.hpp).
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::engine {

// As vLLM and TensorRT-LLM do it within a CUDA graph. Throws PlanError where the engine has no kernel for these GPUs.
Plan plan_of(Model const& model, Collective const& collective);

}  // namespace lanewise::engine
