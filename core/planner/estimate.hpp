#pragma once
// When each step of a plan would run, by the planner's own quick simulation of sharing, engines and order: what it
// compares plans with. The simulator proper is the judge; a test holds the two to the same times.
#include <span>
#include <vector>

#include "core/model/model.hpp"
#include "core/plan/plan.hpp"

namespace lanewise {

struct Estimate {
  struct Times {
    Seconds start{0};
    Seconds end{0};
    friend bool operator==(Times const&, Times const&) = default;
  };
  Seconds makespan{0};
  std::vector<Times> steps;
};

// Throws PlanError when steps wait for one another in a circle. `demands`: one a step, as demands_of makes them.
Estimate estimate(Model const& model, std::span<Step const> steps, std::span<Demand const> demands);
Estimate estimate(Model const& model, std::vector<Step> const& steps);

}  // namespace lanewise
