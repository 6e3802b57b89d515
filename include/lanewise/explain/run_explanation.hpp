#pragma once
// Why a scenario takes as long as it does.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lanewise/explain/bottleneck.hpp"
#include "lanewise/explain/order_gain.hpp"
#include "lanewise/explain/upgrades.hpp"
#include "lanewise/planner/bounds/lower_bound.hpp"

namespace lanewise {

struct RunExplanation {
  Plan plan;
  Trace trace;
  std::optional<LowerBound> bound;
  std::vector<PathStep> path;
  std::vector<Phase> phases;
  std::vector<Upgrade> upgrades;
  std::optional<UnorderedRuns> unordered;  // the same steps in orders that nobody fixes
};
// `trace` is the plan's run. Plans and runs it again for every possible upgrade.
RunExplanation explain_run(Plan const& plan, Trace const& trace, Model const& model, Replanner const& replanner);

// `lanewise: why_run/1`
nlohmann::ordered_json why_run_json(RunExplanation const& explanation, Machine const& machine);

}  // namespace lanewise
