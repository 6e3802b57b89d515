#pragma once
// Flows over shared links in SimGrid: one run, exact times. It knows nothing of GPUs: the executor translates.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lanewise::sim {

struct SharedLink {
  double bytes_per_second = 0;
};

// A flow's use of a link; it counts `times` times against the link.
struct LinkUse {
  std::size_t link = 0;
  int times = 1;
};

struct Flow {
  std::vector<LinkUse> uses;
  double cap_bytes_per_second = 0;  // of this flow alone; 0: none
  double latency_seconds = 0;       // before its bytes move
  std::uint64_t bytes = 0;
};

struct FlowTimes {
  double start = 0;
  double finish = 0;
};

struct SimulationResult {
  std::vector<FlowTimes> flows;
  std::vector<double> link_bytes;  // weighted
  double makespan = 0;
};

// Decides what runs when. `begin` and `finished` call `start(flow)` for every flow that may go now.
struct FlowScheduler {
  std::function<void(std::function<void(std::size_t)> const& start)> begin;
  std::function<void(std::size_t flow, std::function<void(std::size_t)> const& start)> finished;
};

// Runs all flows. One simulation at a time in a process; any number one after another. Throws std::invalid_argument
// for a link without a positive rate, and PlanError when flows are left that nothing started.
SimulationResult simulate(std::vector<SharedLink> const& links, std::vector<Flow> const& flows, FlowScheduler const& order);

// "3.32.0"
std::string simgrid_version();

}  // namespace lanewise::sim
