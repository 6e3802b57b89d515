#pragma once
#include <optional>
#include <string>

#include "lanewise/plan/plan.hpp"

namespace lanewise {

// Proves that a plan performs its collectives: follows each participant's contribution through all steps, piece of
// memory by piece of memory. Nullopt if, in any order that the dependencies allow, every place of the result ends with
// every contribution that belongs there exactly once; otherwise a sentence on what is wrong and where.
std::optional<std::string> fault_of(Plan const& plan);

}  // namespace lanewise
