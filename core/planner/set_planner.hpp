#pragma once
// Plans a set of transfers together: which way each goes, whether it is split over several, and in which order they ask
// for engines and links.
//
//   auto const plan = SetPlanner(model).plan(requests, {Objective::Makespan});
#include <string_view>
#include <vector>

#include "core/planner/planner.hpp"
#include "core/planner/sets/search.hpp"

namespace lanewise {

std::string_view to_string(Objective objective);
std::vector<std::string> objective_names();
Parsed<Objective> parse_objective(std::string_view text);
std::string_view to_string(Effort effort);
Parsed<Effort> parse_effort(std::string_view text);

class SetPlanner {
 public:
  explicit SetPlanner(Model const& model) : model_(model), planner_(model) {}

  // Throws PlanError naming the request that has no legal way. Where nothing is clearly better than deciding each
  // alone, the plan is that.
  [[nodiscard]] Plan plan(std::vector<Request> const& requests, Aim aim) const;

 private:
  Model const& model_;
  Planner planner_;
};

}  // namespace lanewise
