#pragma once
#include <vector>

#include "core/planner/collectives/folding/symmetric_schedule.hpp"
#include "core/planner/collectives/folding/unit_grid.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise {

// The algorithms of a collective in which every unit of a grid does the same; variants to choose from by their time,
// empty for collectives with a root and for those of uneven sizes.
//
// all_reduce: within units, between members with the same place in their units, and within units again, in slices that
// overlap. Between units by recursive exchange: one round for each prime factor of the grid, the nearest first, with
// all units that differ in that digit alone; with factors of 2 recursive halving and doubling. all_gather,
// reduce_scatter: the data of whole units by one member at a time; and in few rounds, where the farthest digits have
// one value for each member. all_to_all: straight, in rounds in which everyone receives from one.
std::vector<SymmetricSchedule> symmetric_schedules(Collective const& collective, UnitGrid const& grid);

}  // namespace lanewise
