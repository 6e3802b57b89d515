#pragma once
// When each step of a plan would run: the planner's own quick simulation of sharing, engines and order, by which it
// compares plans. It and the SimGrid executor take the same demands, engine queue and order; a test holds their times
// together.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/estimate/step_demands.hpp"
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

// `demands`: one a step, as demands_of() makes them. Throws PlanError when a step waits for one that is not there, or
// steps wait for one another in a circle.
Estimate estimate(Model const& model, std::span<Step const> steps, std::span<StepDemand const> demands);
Estimate estimate(Model const& model, std::vector<Step> const& steps);
// The makespan of estimate() if it is below `limit`. Nullopt otherwise, as soon as the clock has passed the limit: for
// comparing many plans of which only the best counts.
std::optional<Seconds> makespan_below(Seconds limit, Model const& model, std::vector<Step> const& steps);

// Which of the steps that may start goes first.
enum class Priority : std::uint8_t {
  StepOrder,        // the one listed first
  BottleneckFirst,  // the one that needs the resource or engine with the most work left, which must never idle
};

// List scheduling (Graham 1966) with admission control. A step starts only if every resource on its route then stays at
// or below `max_utilisation` of its capacity; running steps count at the rates that they have alone, and a step that is
// alone on a resource always fits. Adds to `order_only` what makes any executor keep this order.
Estimate schedule_with_admission(Model const& model, std::vector<Step>& steps, std::span<StepDemand const> demands,
                                 double max_utilisation, Priority priority = Priority::StepOrder);

}  // namespace lanewise
