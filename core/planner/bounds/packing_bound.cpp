#include "core/planner/bounds/packing_bound.hpp"

#include "core/planner/bound_limits.hpp"
#include "core/planner/collectives/trees/packing_program.hpp"

namespace lanewise {

std::optional<LowerBound> packing_bound(Collective const& collective, Sites const& sites, Model const& model) {
  if (!can_be_packed(collective, sites)) return std::nullopt;
  PackingProgram program(collective, sites, model, nullptr);
  if (!program.minimise_time()) return std::nullopt;
  program.count_start_times();
  program.minimise_time();
  LowerBound bound{program.bound(), {}};
  for (auto& [name, share] : program.binding(kBoundLimits.min_reported_share_of_collective))
    bound.binding.push_back({std::move(name), share});
  sort_largest_first(bound.binding);
  return bound;
}

}  // namespace lanewise
