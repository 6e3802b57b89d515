#pragma once
// Plans a set of transfers together: which way each goes, whether it is split over several ways, and in which order
// they ask for engines and links.
//
//   auto const plan = SetPlanner(model).plan(requests, {Objective::Makespan});
#include <optional>
#include <vector>

#include "core/planner/aim.hpp"
#include "core/planner/planner.hpp"

namespace lanewise {

class SetPlanner {
 public:
  // `model` must outlive the planner.
  explicit SetPlanner(Model const& model) : model_(model), planner_(model) {}

  // Returns the plan in which every transfer goes its best way by itself unless another plan is clearly better.
  // Throws PlanError naming the request that has no legal way.
  [[nodiscard]] Plan plan(std::vector<Request> const& requests, Aim aim) const;

 private:
  // Copies between GPUs that may be made by kernels are, if that is clearly faster than `by_engines`.
  [[nodiscard]] std::optional<Plan> faster_by_kernels(std::vector<Request> requests, Aim aim,
                                                      Plan const& by_engines) const;
  [[nodiscard]] bool may_take_less(Seconds time, Plan const& base) const;

  Model const& model_;
  Planner planner_;
};

}  // namespace lanewise
