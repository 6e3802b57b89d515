#pragma once
// Flows over shared links in SimGrid: one run, exact times. Knows nothing of GPUs; the executor translates plans.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lanewise::sim {

struct SharedLink {
  double bytes_per_second = 0;
};

// A flow's use of a link. The flow's rate counts `times` times against the link.
struct LinkUse {
  std::uint32_t link = 0;
  int times = 1;
};

struct Flow {
  std::vector<LinkUse> uses;
  double cap_bytes_per_second = 0;  // of this flow's rate; 0: none
  double latency_seconds = 0;       // from its start until its bytes flow
  std::uint64_t bytes = 0;
};

struct FlowTimes {
  double start = 0;
  double finish = 0;
};

struct SimulationResult {
  std::vector<FlowTimes> flows;
  double makespan = 0;
};

// Decides when flows start. SimGrid's loop calls `begin` once and `finished` after each flow; they call start(flow) for
// every flow that may start now.
struct FlowScheduler {
  std::function<void(std::function<void(std::size_t)> const& start)> begin;
  std::function<void(std::size_t flow, std::function<void(std::size_t)> const& start)> finished;
};

// Runs all flows. Threads wait for one another: SimGrid runs one simulation at a time in a process. Throws
// std::invalid_argument if a link's rate is not positive, and PlanError if flows are left that nothing started.
SimulationResult simulate(std::vector<SharedLink> const& links, std::vector<Flow> const& flows,
                          FlowScheduler const& scheduler);

// "3.32.0"
std::string simgrid_version();

}  // namespace lanewise::sim
