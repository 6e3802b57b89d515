#pragma once
#include <optional>
#include <string>

#include "core/plan/plan.hpp"

namespace lanewise {

// Follows every participant's contribution through the steps of a collective's plan, piece of memory by piece of
// memory. Nullopt: in any order that the dependencies allow, every place of the result ends with every contribution
// that belongs there exactly once. Else what is wrong, and where.
std::optional<std::string> fault_of(Plan const& plan);

}  // namespace lanewise
