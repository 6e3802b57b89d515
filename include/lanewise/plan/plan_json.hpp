#pragma once
// Plans as JSON: `lanewise: plan/3`. Places are written by name, so the machine is needed both ways.
#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "lanewise/plan/plan.hpp"

namespace lanewise {

// What can be read; the first is what is written. Before plan/3 all ways between nodes were by verbs and said no
// `carrier`; plan/1 called a step's `order_only` `turns`.
inline constexpr std::array<std::string_view, 3> kPlanSchemas{"plan/3", "plan/2", "plan/1"};

nlohmann::ordered_json to_json(Plan const& plan, Machine const& machine);
nlohmann::ordered_json to_json(Candidate const& candidate, Machine const& machine);
// Throws InputError when the JSON is not a plan or belongs to another machine, and PlanError when the plan does not
// verify.
Plan plan_from_json(nlohmann::ordered_json const& json, Machine const& machine);

}  // namespace lanewise
