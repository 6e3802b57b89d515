#include "core/calibration/makespan_together.hpp"

#include <map>

#include "core/estimate/schedule.hpp"
#include "lanewise/estimate/estimate.hpp"

namespace lanewise {
namespace {

bool queue_for_engines(Model const& model, std::vector<Released> const& transfers) {
  std::map<EngineId, int> wanted;
  for (auto const& transfer : transfers)
    for (auto const engine : transfer.demand.engines)
      if (++wanted[engine] > model.resources().at(engine).slots) return true;
  return false;
}

}  // namespace

std::optional<Seconds> makespan_together(Model const& model, std::vector<Released> const& transfers) {
  if (queue_for_engines(model, transfers)) return std::nullopt;
  std::vector<Step> steps(transfers.size());
  std::vector<StepDemand> demands;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    if (transfers[i].demand.unknown) return std::nullopt;
    steps[i].bytes = transfers[i].bytes;
    demands.emplace_back(transfers[i].demand);
  }
  return estimate(model, steps, demands).makespan;
}

}  // namespace lanewise
