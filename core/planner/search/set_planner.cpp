#include "lanewise/planner/search/set_planner.hpp"

#include <algorithm>
#include <utility>

#include "core/planner/search/best_plan.hpp"
#include "core/planner/search_limits.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

bool all_costs_known(Plan const& plan) {
  return std::all_of(plan.decisions.begin(), plan.decisions.end(),
                     [](Decision const& decision) { return decision.candidates[decision.chosen].time.has_value(); });
}

// The ways of copy engines and those of kernels are candidates, and the best one of kernels is chosen.
Plan with_ways_of_both(Plan const& by_engines, Plan const& by_kernels) {
  auto both = by_kernels;
  for (std::size_t i = 0; i < both.decisions.size(); ++i) {
    auto& decision = both.decisions[i];
    auto const& engines = by_engines.decisions[i].candidates;
    if (decision.candidates.front().op == engines.front().op) continue;
    decision.chosen += engines.size();
    decision.candidates.insert(decision.candidates.begin(), engines.begin(), engines.end());
  }
  return both;
}

}  // namespace

Plan SetPlanner::plan(std::vector<Request> const& requests, Aim aim) const {
  auto const by_engines = planner_.plan(requests);
  if (aim.objective == Objective::Each || requests.empty() || !all_costs_known(by_engines)) return by_engines;
  auto plan = find_best_plan(by_engines, model_, aim);
  if (aim.objective == Objective::Makespan) use_kernels_if_faster(plan, by_engines, requests, aim);
  plan.verify(model_.machine());
  return plan;
}

void SetPlanner::use_kernels_if_faster(Plan& best, Plan const& by_engines, std::vector<Request> requests,
                                       Aim aim) const {
  bool any = false;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!by_engines.decisions[i].any_mover || requests[i].op != Op::Copy) continue;
    requests[i].op = Op::Write;
    any = true;
  }
  if (!any) return;
  auto best_time = estimate(model_, best.steps).makespan;
  auto const use_if_faster = [&](Plan const& base, Seconds wanted) {
    if (!all_costs_known(base)) return;
    auto plan = find_best_plan(base, model_, aim, wanted.value());
    auto const makespan = estimate(model_, plan.steps).makespan;
    if (makespan > wanted) return;
    best = std::move(plan);
    best_time = makespan;
  };
  try {
    auto const by_kernels = planner_.plan(requests);
    use_if_faster(by_kernels, best_time * (1 / (1 + kSearchLimits.min_gain_by_kernels)));
    if (aim.effort == Effort::Full && requests.size() <= kSearchLimits.small_set)
      use_if_faster(with_ways_of_both(by_engines, by_kernels), (best_time - kSearchLimits.min_seconds_by_both_movers) *
                                                                   (1 / (1 + kSearchLimits.min_gain_by_both_movers)));
  } catch (PlanError const&) {  // kernels do not reach some peer
  }
}

}  // namespace lanewise
