#pragma once
// When each step of a plan would run: the planner's own quick simulation of sharing, engines and order, by which it
// compares plans. It and the SimGrid executor take the same demands, engine queue and order; a test holds their times
// together.
#include <optional>
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

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

// Throws PlanError when a step waits for one that is not there, or steps wait for one another in a circle.
Estimate estimate(Model const& model, std::vector<Step> const& steps, Folding const& folding = {});
// The makespan of estimate() if it is below `limit`. Nullopt otherwise, as soon as the clock has passed the limit: for
// comparing many plans of which only the best counts.
std::optional<Seconds> makespan_below(Seconds limit, Model const& model, std::vector<Step> const& steps,
                                      Folding const& folding = {});

}  // namespace lanewise
