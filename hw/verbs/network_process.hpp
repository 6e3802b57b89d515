#pragma once
// One process's side of plans that cross the network: opens NICs, registers memory, connects, runs, checks.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/verbs/network_run.hpp"
#include "hw/verbs/region_cache.hpp"
#include "hw/verbs/verbs_transport.hpp"

namespace lanewise::hw {

// What one run of a plan showed, of all processes.
struct NetworkSample {
  std::vector<StepSpan> spans;          // by step, from the release
  std::vector<std::string> mismatches;  // by step; empty: every byte is right
};

struct NetworkResult {
  std::vector<NetworkSample> samples;   // of the runs that count
  std::vector<std::string> mismatches;  // by step, the first of all runs
  std::vector<std::string> faults;      // that were got round
  std::vector<std::string> devices;     // "node0/nic0 (mlx5_0)"
};

class NetworkProcess {
 public:
  NetworkProcess(Group& group, MakeGpuMemory make_gpu_memory) : group_(group), memory_(make_gpu_memory) {}

  // All processes call this together with the same plan, and all get the result. Throws the same error at all.
  NetworkResult run(NetworkPlan const& plan);

 private:
  struct Laid;
  void open(NetworkPlan const& plan, Layout const& layout, Laid& laid);
  std::string lay(NetworkPlan const& plan, Layout const& layout, Laid& laid);
  void address(Layout const& layout, std::vector<std::string> const& keys, Laid& laid) const;
  void prepare(NetworkPlan const& plan, Laid& laid) const;
  [[nodiscard]] std::string checked(NetworkPlan const& plan, Layout const& layout, Laid const& laid,
                                    std::vector<StepSpan> const& spans) const;

  // Handles in the order in which they may not outlive one another: regions before NICs and memory.
  Group& group_;
  MemoryPool memory_;
  std::map<std::string, std::unique_ptr<Nic>> nics_;  // by device and kind of completion
  RegionCache regions_;
};

}  // namespace lanewise::hw
