#pragma once
// Plans a set of transfers together: which way each goes, whether it is split over several ways, and in which order
// they ask for engines and links.
//
//   auto const plan = SetPlanner(model).plan(requests, {Objective::Makespan});
#include <optional>
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
  // The plan in which kernels move what either may move, each transfer its best way by itself. Nullopt if kernels may
  // move nothing or do not reach every peer. `by_engines`: the same by copy engines.
  [[nodiscard]] std::optional<Plan> plan_by_kernels(std::vector<Request> requests, Plan const& by_engines) const;

  Model const& model_;
  Planner planner_;
};

}  // namespace lanewise
