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

// Who begins first of those that may.
enum class Priority : std::uint8_t {
  StepOrder,        // the earlier step
  BottleneckFirst,  // that for whose fullest engine or link most work is left: it must never idle
};

// The same, but a step is also held back while what it passes is full: until the steps under way there, at the rates
// they have alone, and it together take at most `fill` of every capacity. Adds the turns that make any executor keep to
// this.
Estimate schedule_with_admission(Model const& model, std::vector<Step>& steps, std::span<Demand const> demands,
                                 double fill, Priority first = Priority::StepOrder);

}  // namespace lanewise
