#pragma once
// One process of plans that cross the network: it opens what carries them, registers memory, connects, runs and checks.
#include <optional>
#include <string>
#include <vector>

#include "hw/network/carrier.hpp"
#include "hw/network/device_steps.hpp"
#include "hw/network/memory_pool.hpp"
#include "hw/network/network_run.hpp"

namespace lanewise::hw {

// One run of a plan, of all processes.
struct NetworkSample {
  std::vector<StepSpan> spans;  // by step, from the release
};

struct NetworkResult {
  std::vector<NetworkSample> samples;   // of the timed runs
  std::vector<std::string> mismatches;  // by step, the first of all runs; empty: every byte is right
  std::vector<std::string> faults;      // that the runs worked around
  std::vector<std::string> devices;     // "node0/nic0 (mlx5_0)"
};

class NetworkProcess {
 public:
  NetworkProcess(Group& group, Completion completion) : group_(group), carriers_(group, completion) {}

  // All processes call this together with the same plan, and all get the same result or throw the same error.
  NetworkResult run(NetworkPlan const& plan);

 private:
  struct PreparedPlan;
  void allocate_buffers(NetworkPlan const& plan, Layout const& layout, PreparedPlan& prepared);
  std::string allocate_steps(NetworkPlan const& plan, Layout const& layout, PreparedPlan& prepared);
  std::byte* set_ends(NetworkPlan const& plan, std::size_t number, Layout const& layout, PreparedPlan& prepared);
  void set_remote_addresses(Layout const& layout, std::vector<std::string> const& keys, PreparedPlan& prepared) const;
  std::unique_ptr<DeviceSteps> make_gpu_steps(NetworkPlan const& plan, std::vector<std::vector<int>> const& ranks,
                                              PreparedPlan& prepared) const;
  [[nodiscard]] NetworkMemory memory_here(NetworkMemory where, NetworkPlan const& plan) const;
  static void clear_targets(NetworkPlan const& plan, PreparedPlan& prepared);
  [[nodiscard]] std::string report(NetworkPlan const& plan, Layout const& layout, PreparedPlan const& prepared,
                                   std::vector<StepSpan> const& spans) const;

  // Destroyed in reverse order: what carries plans knows the memory's addresses.
  Group& group_;
  MemoryPool memory_;
  Carriers carriers_;
  std::optional<int> first_gpu_;  // of this node, where it shares its host with others
  bool shares_host_ = false;
};

}  // namespace lanewise::hw
