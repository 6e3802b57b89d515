#pragma once
// A collective on a machine: algorithm by estimated time, every move with its best way, buffers, and the bound.
#include "core/model/model.hpp"
#include "core/plan/plan.hpp"
#include "core/planner/bounds/lower_bound.hpp"
#include "core/planner/collectives/algorithms.hpp"

namespace lanewise {

Layout layout_of(Model const& model, Collective const& collective);

// The plan by the collective's algorithm; of Auto the fastest by estimate. Throws PlanError when the algorithm does not
// do this collective here, or two participants have no way between them.
Plan plan_collective(Model const& model, Collective const& collective);
// By every algorithm that does it, fastest estimate first.
std::vector<Plan> plans_of_collective(Model const& model, Collective const& collective);

// Something that all algorithms press so many bytes through that it takes at least this long.
struct CollectiveCut {
  std::string name;  // "out of gpu0", "all NICs"
  Seconds time{0};
  std::optional<std::size_t> participant = {};  // whose ports they are; absent: of several together
};
// Empty where a participant is no GPU or a figure is unknown.
std::vector<CollectiveCut> cuts_of(Collective const& collective, Model const& model);
// The longest of them: what must at least leave and reach each participant, and each node, over all that it has.
std::optional<LowerBound> collective_bound(Collective const& collective, Model const& model);

}  // namespace lanewise
