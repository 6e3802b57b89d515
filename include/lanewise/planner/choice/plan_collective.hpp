#pragma once
// Plans a collective on a machine: tries every suitable algorithm, gives each of its transfers the best way, and takes
// the plan with the shortest estimated time.
#include <cstdint>
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/planner/aim.hpp"

namespace lanewise {

// Which of the plans that were compared are kept.
enum class Keep : std::uint8_t {
  Best,  // the fastest; the estimate of any other ends where it is past the best so far
  All,
};

// What plans of one collective are compared by: the estimate, and what copy engines add between the kernels around it.
// A kernel made the data, so the first copies wait for their engines; a kernel uses the result, so it waits for events
// of other GPUs' copies. The collective run alone does not take that much longer, and kernels notify one another inside
// it.
Seconds compared_time(Model const& model, Plan const& plan);

// The plan by the collective's algorithm; for Algorithm::Auto the plan with the shortest estimate. With Detail::Folded
// it is folded where more than 64 participants on nodes that are alike can all do the same. Throws PlanError if the
// request is malformed, if the algorithm cannot do this collective here, or if two participants have no way between
// them. With Effort::Quick neither trees are packed nor sets planned at length, which is some ten times faster.
Plan plan_collective(Model const& model, Collective const& collective, Detail detail = Detail::Folded,
                     Effort effort = Effort::Full);
// At least one plan by every algorithm that can do it, or folded plans alone where there are any; shortest estimate
// first; with Keep::Best the first of them alone. Throws as plan_collective() does.
std::vector<Plan> plans_of_collective(Model const& model, Collective const& collective, Keep keep = Keep::All,
                                      Detail detail = Detail::Folded, Effort effort = Effort::Full);

}  // namespace lanewise
