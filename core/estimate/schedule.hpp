#pragma once
// Estimates of steps whose demands are known, as the planner's searches make them by the thousand.
#include <cstdint>
#include <span>
#include <vector>

#include "core/estimate/step_demands.hpp"
#include "lanewise/estimate/estimate.hpp"

namespace lanewise {

// `demands`: one a step, as demands_of() makes them. Throws as estimate() without them does.
Estimate estimate(Model const& model, std::span<Step const> steps, std::span<StepDemand const> demands);

// Which of the steps that may start goes first.
enum class Priority : std::uint8_t {
  StepOrder,        // the one listed first
  BottleneckFirst,  // the one that needs the resource or engine with the most work left, which must never idle
};

// The end of one step lets another begin.
struct OrderOnly {
  StepId before{};
  StepId step{};
};

struct ScheduledRun {
  Estimate run;
  std::vector<OrderOnly> order;  // what it keeps to beside the steps' own dependencies
};

// List scheduling (Graham 1966) with admission control. A step starts only if every resource on its route then stays at
// or below `max_utilisation` of its capacity; running steps count at the rates that they have alone, and a step that is
// alone on a resource always fits.
ScheduledRun schedule_with_admission(Model const& model, std::span<Step const> steps,
                                     std::span<StepDemand const> demands, double max_utilisation,
                                     Priority priority = Priority::StepOrder);

// Adds to `order_only` of the steps what makes any executor keep an order.
void add_order(std::vector<Step>& steps, std::span<OrderOnly const> order);

}  // namespace lanewise
