#pragma once
// What a communication library would do, beside what is possible: the library decides by its own rules and constants,
// and how long that takes is the model's. The result is an ordinary plan.
//
//   auto const library = parse_library("nccl-2.18").value;
//   Plan const plan = plan_by_library(model, all_reduce, *library);
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/planner/libraries/library_name.hpp"

namespace lanewise {

// The plan that the library would make for a collective. Its steps carry what passes the links until the end: a ring's
// hop is one step with all that it carries. Plan::library says what was decided, and why. Throws PlanError where the
// library does not do this collective, or lanewise does not know how it does it.
Plan plan_by_library(Model const& model, Collective const& collective, Library const& library);

}  // namespace lanewise
