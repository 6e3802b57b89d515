#pragma once
#include "core/planner/choice/way_cache.hpp"
#include "core/planner/collectives/folding/symmetric_schedule.hpp"
#include "core/planner/collectives/folding/unit_grid.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

// The units of a grid with the classes that a schedule makes of them.
UnitGrid refined_for(UnitGrid const& grid, SymmetricSchedule const& schedule);

// The plan of a symmetric schedule, folded: a step for each transfer and each pair of classes of units between which it
// goes, with the number of units that send it. Buffers are those of the first unit of each class, and regions are as
// these see them.
Plan folded_plan(Model const& model, Collective const& collective, Algorithm algorithm,
                 SymmetricSchedule const& schedule, UnitGrid const& grid, WayCache& ways);

}  // namespace lanewise
