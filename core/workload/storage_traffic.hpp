#pragma once
// What ranks exchange with host memory and drives: offloaded weights, cache and optimizer, checkpoints, and training
// data.
#include <string>
#include <vector>

#include "core/workload/traffic.hpp"
#include "lanewise/machine/machine.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {

// The patterns of a workload's blocks `offload`, `checkpoint` and `data`. Sources: ZeRO-Offload (arXiv 2101.06840) for
// the optimizer; a layer at a time as FSDP gathers it (1910.02054).
std::vector<TrafficPattern> storage_traffic_of(Workload const& workload);

// Whether an exchange is between a rank, or its host memory, and its host memory or a drive.
bool is_with_storage(Exchange exchange);

// One message of such an exchange for each of these GPUs, with the memory of its own NUMA node and the nearest drive of
// its node that works; GPUs that are equally near to several drives take them in turn. Throws PlanError where a node
// has none.
std::vector<Request> storage_requests(TrafficPattern const& pattern, Machine const& machine,
                                      std::vector<PciId> const& gpus);

// How far the messages of a request go: "NVLink" (to a CPU), "switch", "socket" or "node".
std::string storage_reach(Machine const& machine, Request const& request);

}  // namespace lanewise
