#include "lanewise/planner/search/set_planner.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/planner/search/best_plan.hpp"
#include "core/planner/search_limits.hpp"
#include "lanewise/estimate/estimate.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

constexpr Seconds kAny{std::numeric_limits<double>::infinity()};
constexpr auto kKernelsGain = 1 + kSearchLimits.min_gain_by_kernels;

struct TimedPlan {
  Plan plan;
  Seconds makespan = kAny;
};

bool all_costs_known(Plan const& plan) {
  return std::all_of(plan.decisions.begin(), plan.decisions.end(),
                     [](Decision const& decision) { return decision.candidates[decision.chosen].time.has_value(); });
}

// `wanted`: a plan that takes longer is of no use, so the search may end early.
TimedPlan search(Plan const& base, Model const& model, Aim aim, Seconds wanted = kAny) {
  auto plan = find_best_plan(base, model, aim, wanted.value());
  auto const makespan = estimate(model, plan.steps).makespan;
  return {std::move(plan), makespan};
}

// Where GPUs map only some peers, those of the other plan may be others: their ways by peer access are refused as well.
void refuse_other_peers(std::vector<Candidate>& candidates, std::vector<Candidate> const& of_plan) {
  auto const refused = std::find_if(of_plan.begin(), of_plan.end(), [](Candidate const& candidate) {
    return candidate.way.mechanism == Mechanism::PcieP2p && candidate.refused_by == "P2P-PEER-LIMIT";
  });
  if (refused == of_plan.end()) return;
  for (auto& candidate : candidates) {
    if (candidate.way.mechanism != Mechanism::PcieP2p || !candidate.refused_by.empty()) continue;
    candidate.refused_by = refused->refused_by;
    candidate.reason = refused->reason;
  }
}

// The ways of copy engines and those of kernels are candidates, and the best one of kernels is chosen.
Plan with_ways_of_both(Plan const& by_engines, Plan const& by_kernels) {
  auto both = by_kernels;
  for (std::size_t i = 0; i < both.decisions.size(); ++i) {
    auto& decision = both.decisions[i];
    auto engines = by_engines.decisions[i].candidates;
    if (decision.candidates.front().op == engines.front().op) continue;
    refuse_other_peers(engines, decision.candidates);
    decision.chosen += engines.size();
    decision.candidates.insert(decision.candidates.begin(), engines.begin(), engines.end());
  }
  return both;
}

// The better plan of the two movers. The one that is faster in a quick search goes first, for what it reaches says how
// far the search for the other has to go.
TimedPlan best_of_either(Plan const& by_engines, Plan const& by_kernels, Model const& model, Aim aim) {
  Aim const quick{aim.objective, Effort::Quick};
  bool const kernels_first = aim.effort == Effort::Full && search(by_kernels, model, quick).makespan * kKernelsGain <
                                                               search(by_engines, model, quick).makespan;
  TimedPlan kernels;
  TimedPlan engines;
  if (kernels_first) {
    kernels = search(by_kernels, model, aim);
    engines = search(by_engines, model, aim, kernels.makespan * kKernelsGain);
  } else {
    engines = search(by_engines, model, aim);
    kernels = search(by_kernels, model, aim, engines.makespan * (1 / kKernelsGain));
  }
  return kernels.makespan * kKernelsGain <= engines.makespan ? kernels : engines;
}

}  // namespace

Plan SetPlanner::plan(std::vector<Request> const& requests, Aim aim) const {
  auto const by_engines = planner_.plan(requests);
  if (aim.objective == Objective::Each || requests.empty() || !all_costs_known(by_engines)) return by_engines;
  auto const by_kernels = aim.objective == Objective::Makespan ? plan_by_kernels(requests, by_engines) : std::nullopt;
  if (!by_kernels) {
    auto plan = find_best_plan(by_engines, model_, aim);
    plan.verify(model_.machine());
    return plan;
  }
  auto best = best_of_either(by_engines, *by_kernels, model_, aim);
  if (aim.effort == Effort::Full && requests.size() <= kSearchLimits.small_set) {
    auto const wanted =
        (best.makespan - kSearchLimits.min_seconds_by_both_movers) * (1 / (1 + kSearchLimits.min_gain_by_both_movers));
    auto both = search(with_ways_of_both(by_engines, *by_kernels), model_, aim, wanted);
    if (both.makespan <= wanted) best = std::move(both);
  }
  best.plan.verify(model_.machine());
  return std::move(best.plan);
}

std::optional<Plan> SetPlanner::plan_by_kernels(std::vector<Request> requests, Plan const& by_engines) const {
  bool any = false;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!by_engines.decisions[i].any_mover || requests[i].op != Op::Copy) continue;
    requests[i].op = Op::Write;
    any = true;
  }
  if (!any) return std::nullopt;
  try {
    auto plan = planner_.plan(requests);
    if (all_costs_known(plan)) return plan;
  } catch (PlanError const&) {  // kernels do not reach some peer
  }
  return std::nullopt;
}

}  // namespace lanewise
