#pragma once
// How close a run is to what is possible, and how a collective did, as JSON.
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "lanewise/planner/bounds/lower_bound.hpp"

namespace lanewise {

// Adds makespan_us; with a bound also bound_us, gap (a fraction) and binding.
void add_optimality(nlohmann::ordered_json& json, Seconds makespan, std::optional<LowerBound> const& bound);
// Adds the algorithms of the plan's collectives, and the bus bandwidth where the plan is one collective. Adds nothing
// to other plans.
void add_collective(nlohmann::ordered_json& json, Plan const& plan, Seconds makespan);

}  // namespace lanewise
