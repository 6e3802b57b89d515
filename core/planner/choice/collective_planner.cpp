#include "lanewise/planner/choice/collective_planner.hpp"

#include <algorithm>

namespace lanewise {
namespace {

bool is_sought(Algorithm algorithm) {
  return algorithm == Algorithm::PackedTrees || algorithm == Algorithm::TransferSet;
}

}  // namespace

Plan const& CollectivePlanner::best(Collective const& collective) {
  if (auto const* plan = known_best(collective)) return *plan;
  auto const& plan = evaluate(collective, keep_).front();
  plan.verify(model_.machine());
  return plan;
}

std::vector<Plan> const& CollectivePlanner::all(Collective const& collective) {
  for (auto const& answer : answers_)
    if (answer.keep == Keep::All && answer.collective == collective) return answer.plans;
  return evaluate(collective, Keep::All);
}

// Plans by one algorithm are among those by any. Not so packed trees and sets: how far they are sought depends on what
// is asked.
Plan const* CollectivePlanner::known_best(Collective const& collective) const {
  auto by_any = collective;
  by_any.algorithm = Algorithm::Auto;
  for (auto const& answer : answers_) {
    if (answer.collective == collective) return &answer.plans.front();
    if (answer.keep != Keep::All || answer.collective != by_any || is_sought(collective.algorithm)) continue;
    auto const found = std::find_if(answer.plans.begin(), answer.plans.end(),
                                    [&](Plan const& plan) { return plan.collective == collective; });
    if (found != answer.plans.end()) return &*found;
  }
  return nullptr;
}

std::vector<Plan> const& CollectivePlanner::evaluate(Collective const& collective, Keep keep) {
  return answers_.emplace_back(Answer{collective, keep, plans_of_collective(model_, collective, keep, detail_)}).plans;
}

}  // namespace lanewise
