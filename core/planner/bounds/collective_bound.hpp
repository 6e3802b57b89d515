#pragma once
#include <optional>

#include "lanewise/planner/bounds/lower_bound.hpp"

namespace lanewise {

// A time that no algorithm of the collective beats: the largest of the closed-form cut bounds and, within one node, of
// the linear programs over what enters groups of participants and over tree packings. Nullopt if a participant is no
// GPU or no capacity is known.
std::optional<LowerBound> collective_bound(Collective const& collective, Model const& model);

}  // namespace lanewise
