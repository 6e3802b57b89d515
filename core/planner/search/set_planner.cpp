#include "core/planner/search/set_planner.hpp"

#include <algorithm>

#include "core/estimate/estimate.hpp"
#include "core/io/error.hpp"
#include "core/planner/bounds/lower_bound.hpp"
#include "core/planner/search/best_plan.hpp"
#include "core/planner/search_limits.hpp"

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
  if (auto by_kernels = faster_by_kernels(requests, aim, plan)) plan = std::move(*by_kernels);
  plan.verify(model_.machine());
  return plan;
}

std::optional<Plan> SetPlanner::faster_by_kernels(std::vector<Request> requests, Aim aim,
                                                  Plan const& by_engines) const {
  if (aim.objective != Objective::Makespan) return std::nullopt;
  bool any = false;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!by_engines.decisions[i].any_mover || requests[i].op != Op::Copy) continue;
    requests[i].op = Op::Write;
    any = true;
  }
  if (!any) return std::nullopt;
  auto const wanted = estimate(model_, by_engines.steps).makespan * (1 / (1 + kSearchLimits.min_gain_by_kernels));
  try {
    auto const base = planner_.plan(requests);
    // The bound takes longer than a quick search, so it only spares full ones.
    if (!all_costs_known(base) || (aim.effort == Effort::Full && !may_take_less(wanted, base))) return std::nullopt;
    auto plan = find_best_plan(base, model_, aim);
    if (estimate(model_, plan.steps).makespan <= wanted) return plan;
  } catch (PlanError const&) {  // kernels do not reach some peer
  }
  return std::nullopt;
}

bool SetPlanner::may_take_less(Seconds time, Plan const& base) const {
  auto const bound = lower_bound(open_transfers(base, model_), model_);
  return !bound || bound->makespan < time;
}

}  // namespace lanewise
