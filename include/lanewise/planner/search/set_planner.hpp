#pragma once
// Plans a set of transfers together: which way each goes, whether it is split over several ways, and in which order
// they ask for engines and links.
//
//   auto const plan = SetPlanner(model).plan(requests, {Objective::Makespan});
#include <vector>

#include "lanewise/planner/aim.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {

class SetPlanner {
 public:
  // `model` must outlive the planner.
  explicit SetPlanner(Model const& model) : model_(model), planner_(model) {}

  // Returns the plan in which every transfer goes its best way by itself unless another plan is clearly better.
  // Throws PlanError naming the request that has no legal way.
  [[nodiscard]] Plan plan(std::vector<Request> const& requests, Aim aim) const;

 private:
  // Replaces `best`, a plan by copy engines, where kernels, alone or beside these, are clearly faster. `by_engines`:
  // the plan of `requests` in which each goes its best way by itself.
  void use_kernels_if_faster(Plan& best, Plan const& by_engines, std::vector<Request> requests, Aim aim) const;

  Model const& model_;
  Planner planner_;
};

}  // namespace lanewise
