#pragma once
#include <string_view>

#include "lanewise/machine/machine.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise::hw {

// Throws InputError for a plan of another machine or other settings, and for a folded one; PlanError as Plan::verify().
void check_plan(Plan const& plan, Machine const& machine);

// Throws PlanError naming the step, its way, and why this executor does not run it.
[[noreturn]] void refuse_step(Step const& step, Machine const& machine, std::string_view why);

// Whether a step has a source and a target of its own, which no other step touches.
bool has_own_memory(Step const& step);

}  // namespace lanewise::hw
