#pragma once
#include "lanewise/machine/machine.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::hw {

// Throws InputError for a plan of another machine or other settings, and for a folded one; PlanError as Plan::verify().
void check_plan(Plan const& plan, Machine const& machine);

}  // namespace lanewise::hw
