#pragma once
// How long one message of each traffic pattern takes on a machine, while every group of ranks does the same.
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/workload/placement.hpp"
#include "core/workload/traffic.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"
#include "lanewise/planner/jobs/job_set.hpp"

namespace lanewise {

struct PatternTime {
  TrafficPattern pattern;
  std::size_t groups = 0;      // that do this at once
  std::size_t group_size = 0;  // ranks of one
  std::string reach;           // how far its messages go: see reach_of()
  Seconds each{0};             // of one message
  BytesPerSecond bus_bandwidth{0};
};

// The jobs of one message of a pattern, of every group that is no copy of another.
JobSet jobs_of(TrafficPattern const& pattern, Workload const& workload, Placement const& placement,
               Machine const& machine);

// The times of messages by what they are and among which GPUs, as searches over many placements meet them again.
using KnownTimes = std::map<std::tuple<Exchange, Bytes, std::vector<std::vector<Place>>>, Seconds>;

// The traffic of a workload by the planner's own estimate; messages that are not in `known` are planned and added.
// Throws as PlannedTraffic.
std::vector<PatternTime> estimated_times(Workload const& workload, Model const& model, KnownTimes& known);

// The traffic of a workload with the plans of its messages, to be timed under several assumptions.
class PlannedTraffic {
 public:
  // Throws PlanError where a pattern has no legal way, or the workload's library does not do it; InputError as
  // place_ranks().
  PlannedTraffic(Workload const& workload, Model const& model, Effort effort = Effort::Quick);

  // `model`: of the same machine. Without `make_executor` by the planner's own estimate.
  [[nodiscard]] std::vector<PatternTime> times(Model const& model, MakeExecutor const& make_executor = {}) const;
  // What the times may depend on.
  [[nodiscard]] std::vector<Parameter> parameters(Model const& model) const;

 private:
  std::vector<PatternTime> patterns_;  // without times
  std::vector<std::size_t> plan_of_;   // of each pattern
  std::vector<Plan> plans_;            // patterns that are alike share one
};

}  // namespace lanewise
