#pragma once
// How close a run is to what is possible, and how a collective did, in words.
#include <optional>
#include <string>

#include "lanewise/planner/bounds/lower_bound.hpp"

namespace lanewise {

// "makespan 4.86 ms, at least 4.80 ms (gap 1.2 %), held by gpu0.pcie.up"
std::string optimality_text(Seconds makespan, std::optional<LowerBound> const& bound);
// A line for each collective of the plan: its size, algorithm and bus bandwidth; empty where the plan has none.
std::string collective_text(Plan const& plan, Seconds makespan);
// Of the best plan of a collective, beside what a library takes for it.
std::string best_plan_text(Plan const& best, Seconds makespan, Seconds of_library);

}  // namespace lanewise
