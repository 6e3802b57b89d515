#include "core/planner/search/set_planner.hpp"

#include <algorithm>

#include "core/planner/search/best_plan.hpp"

namespace lanewise {
namespace {

bool all_costs_known(Plan const& plan) {
  return std::all_of(plan.decisions.begin(), plan.decisions.end(),
                     [](Decision const& decision) { return decision.candidates[decision.chosen].time.has_value(); });
}

}  // namespace

Plan SetPlanner::plan(std::vector<Request> const& requests, Aim aim) const {
  auto base = planner_.plan(requests);
  if (aim.objective == Objective::Each || requests.empty() || !all_costs_known(base)) return base;
  auto plan = find_best_plan(base, model_, aim);
  plan.verify(model_.machine());
  return plan;
}

}  // namespace lanewise
