#pragma once
// Which messages an execution trace sends, and how long its step takes once their times are known.
#include <optional>
#include <vector>

#include "core/workload/step_time.hpp"

namespace lanewise {

// Every kind of message once, and which one each node of rank 0 sends; nullopt: none that takes time.
struct TracedTraffic {
  std::vector<TrafficPattern> patterns;
  std::vector<std::optional<std::size_t>> of_node;
};

// A collective is done at once by all groups that have as many ranks with the same distances between them as rank 0's,
// and no rank in common; a send by all pairs that the traces have of its size, of one trace for all by every rank that
// has another as far away. Throws InputError naming the file and the node whose group or peer is not there.
TracedTraffic traffic_of_trace(TracedStep const& step);

// Lists rank 0's nodes by when they could start: computing one after another, and so the messages of each group; memory
// nodes take no time. `times`: of the patterns, in their order.
StepTime compose_traced_step(TracedStep const& step, std::vector<PatternTime> const& times);

}  // namespace lanewise
