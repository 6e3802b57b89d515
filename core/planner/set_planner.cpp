#include "core/planner/set_planner.hpp"

#include <algorithm>
#include <array>

#include "core/io/word.hpp"
#include "core/planner/sets/search.hpp"

namespace lanewise {
namespace {

constexpr std::array<std::string_view, 3> kObjectiveNames{"each", "makespan", "slowdown"};
constexpr std::array<std::string_view, 2> kEffortNames{"quick", "full"};

bool all_costs_known(Plan const& plan) {
  return std::all_of(plan.decisions.begin(), plan.decisions.end(),
                     [](Decision const& decision) { return decision.candidates[decision.chosen].time.has_value(); });
}

}  // namespace

std::string_view to_string(Objective objective) { return kObjectiveNames[static_cast<std::size_t>(objective)]; }
std::vector<std::string> objective_names() { return {kObjectiveNames.begin(), kObjectiveNames.end()}; }
Parsed<Objective> parse_objective(std::string_view text) {
  return parse_word<Objective>(text, kObjectiveNames, "an objective");
}
std::string_view to_string(Effort effort) { return kEffortNames[static_cast<std::size_t>(effort)]; }
Parsed<Effort> parse_effort(std::string_view text) { return parse_word<Effort>(text, kEffortNames, "an effort"); }

Plan SetPlanner::plan(std::vector<Request> const& requests, Aim aim) const {
  auto base = planner_.plan(requests);
  if (aim.objective == Objective::Each || requests.empty() || !all_costs_known(base)) return base;
  auto plan = find_best_plan(base, model_, aim);
  plan.verify(model_.machine());
  return plan;
}

}  // namespace lanewise
