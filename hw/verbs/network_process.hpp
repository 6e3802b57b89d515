#pragma once
// One process of plans that cross the network: it opens NICs, registers memory, connects, runs and checks.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/verbs/network_run.hpp"
#include "hw/verbs/region_cache.hpp"
#include "hw/verbs/verbs_transport.hpp"

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
  NetworkProcess(Group& group, MakeGpuMemory make_gpu_memory) : group_(group), memory_(make_gpu_memory) {}

  // All processes call this together with the same plan, and all get the same result or throw the same error.
  NetworkResult run(NetworkPlan const& plan);

 private:
  struct PreparedPlan;
  void open_nics(NetworkPlan const& plan, Layout const& layout, PreparedPlan& prepared);
  std::string allocate(NetworkPlan const& plan, Layout const& layout, PreparedPlan& prepared);
  void set_remote_addresses(Layout const& layout, std::vector<std::string> const& keys, PreparedPlan& prepared) const;
  std::byte* set_buffers(NetworkPlan const& plan, NetworkStep const& step, StepLayout const& links, StepPart& part,
                         PreparedPlan& prepared, std::size_t number);
  static void clear_targets(NetworkPlan const& plan, PreparedPlan& prepared);
  [[nodiscard]] std::string report(NetworkPlan const& plan, Layout const& layout, PreparedPlan const& prepared,
                                   std::vector<StepSpan> const& spans) const;

  // Destroyed in reverse order: regions before the NICs and the memory that they belong to.
  Group& group_;
  MemoryPool memory_;
  std::map<std::string, std::unique_ptr<Nic>> nics_;  // by name and kind of completion
  RegionCache regions_;
};

}  // namespace lanewise::hw
