#pragma once
#include <optional>

#include "core/planner/collectives/trees/packing.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"

namespace lanewise {

// A time that no broadcast or all_gather over these sites beats, whatever trees its data go along: the dual bound of
// the tree packing program, by all engines and any number of kernels. Nullopt if trees cannot be packed or a
// participant cannot be reached over ways of known capacity.
std::optional<LowerBound> packing_bound(Collective const& collective, Sites const& sites, Model const& model);

}  // namespace lanewise
