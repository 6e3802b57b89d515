#pragma once
// How close a plan or run is to what is possible, in words and as JSON.
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/planner/bounds/lower_bound.hpp"

namespace lanewise {

// Adds makespan_us, and where there is a bound bound_us, gap (a fraction) and binding.
void add_optimality(nlohmann::ordered_json& json, Seconds makespan, std::optional<LowerBound> const& bound);
// Of a collective's plan: its bus bandwidth and algorithm; nothing for others.
void add_collective(nlohmann::ordered_json& json, Plan const& plan, Seconds makespan);
std::string collective_text(Plan const& plan, Seconds makespan);
// "makespan 4.86 ms, at least 4.80 ms (gap 1.2 %), held by gpu0.pcie.up"
std::string optimality_text(Seconds makespan, std::optional<LowerBound> const& bound);

}  // namespace lanewise
