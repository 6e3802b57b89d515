#include "core/planner/demands.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/error.hpp"
#include "core/model/path_builder.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {

Demand demand_of(Model const& model, Step const& step) {
  if (step.work > Seconds(0)) {
    Demand demand;
    demand.start = step.work;
    demand.busy = step.work;
    if (auto const gpu = gpu_at(model.machine(), step.from))
      demand.engines.push_back(model.resources().multiprocessors(*gpu));
    return demand;
  }
  auto demand = model.lower(step.from, step.to, step.bytes, step.op, step.way);
  if (step.reduces) {
    PathBuilder path(model, demand);
    if (auto const gpu = gpu_at(model.machine(), step.to)) path.device_memory(*gpu, 2);
  }
  return demand;
}

std::vector<Demand> demands_of(Model const& model, std::vector<Step> const& steps) {
  std::vector<Demand> demands;
  demands.reserve(steps.size());
  for (auto const& step : steps) {
    demands.push_back(demand_of(model, step));
    Seconds noticed{0};
    for (auto const before : step.after)
      noticed = std::max(noticed, model.handover(step.from, steps[index(before)].way, step.way));
    demands.back().start += noticed;
    if (demands.back().unknown)
      throw PlanError(fmt::format("transfer '{}' cannot be simulated: nobody says {}", step.transfer,
                                  model.resources().at(*demands.back().unknown).missing));
  }
  return demands;
}

}  // namespace lanewise
