#pragma once
// A collective of GPU buffers as Open MPI with CUDA support does it: what reduces is copied to host memory, reduced
// there by CPU cores, and copied back; what only moves goes from GPU to GPU where it is large.
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::mpi {

// One rank for each GPU. Throws PlanError for ops that are not known.
Plan plan_of(Model const& model, Collective const& collective);

}  // namespace lanewise::mpi
