#pragma once
#include <vector>

#include "core/planner/collectives/trees/packing.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise {

// Trees for a plan of a broadcast or all_gather, one packing for each of the style's setup cost weights: among all
// trees that need hardly more than the least time, those with the least congestion and few hops. Empty if trees cannot
// be packed (can_be_packed), if a participant cannot be reached over ways of known capacity, and if the least time
// reaches the style's limit.
std::vector<Packing> packed_trees(Collective const& collective, Sites const& sites, Model const& model,
                                  PackingStyle const& style);

}  // namespace lanewise
