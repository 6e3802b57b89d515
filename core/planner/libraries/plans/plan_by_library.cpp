#include "lanewise/planner/libraries/library.hpp"

#include "core/planner/libraries/nccl/nccl_plan.hpp"
#include "core/planner/libraries/plans/mpi_plan.hpp"
#include "core/planner/libraries/plans/one_shot_plan.hpp"
#include "core/planner/libraries/rccl/rccl_plan.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

Plan made_by(Model const& model, Collective const& collective, Library const& library) {
  switch (library.kind) {
    case LibraryKind::Rccl: return rccl::plan_of(model, collective);
    case LibraryKind::Mpi: return mpi::plan_of(model, collective);
    case LibraryKind::OneShot: return engine::plan_of(model, collective);
    case LibraryKind::Nccl: break;
  }
  return nccl::plan_of(model, collective, library);
}

}  // namespace

Plan plan_by_library(Model const& model, Collective const& collective, Library const& library) {
  if (collective.among.size() < 2) throw PlanError("a collective has at least two participants");
  auto plan = made_by(model, collective, library);
  plan.verify(model.machine());
  return plan;
}

}  // namespace lanewise
