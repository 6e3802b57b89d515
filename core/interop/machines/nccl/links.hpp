#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/nccl/document.hpp"

namespace lanewise {

// The NVLink, xGMI and C2C links of all GPUs in a file; links between two GPUs once for each pair. GPUs are numbered in
// file order.
class NcclLinks {
 public:
  struct Bundle {
    NcclLink::Kind kind = NcclLink::Kind::NvLink;
    int count = 0;
  };
  struct GpuLinks {
    std::string bus_id;
    int to_switch = 0;  // links to NVSwitches
    int to_cpu = 0;     // NVLinks to its own CPU
    double c2c = 0;     // MB/s to its own CPU
    int nvlinks = 0;    // all NVLinks
  };

  // Leaves out links whose target is not in the file, with notes.
  NcclLinks(NcclSystem const& system, MachineBuilder& builder);

  [[nodiscard]] std::vector<GpuLinks> const& gpus() const { return gpus_; }
  [[nodiscard]] std::map<std::pair<std::size_t, std::size_t>, Bundle> const& pairs() const { return pairs_; }

 private:
  void collect_gpus(NcclPci const& pci);
  void read_link(std::size_t gpu, NcclLink const& link);
  void join_directions();

  MachineBuilder& builder_;
  std::vector<NcclPci const*> elements_;  // of the GPUs
  std::vector<GpuLinks> gpus_;
  std::map<std::pair<std::size_t, std::size_t>, Bundle> listed_;  // from one GPU to another
  std::map<std::pair<std::size_t, std::size_t>, Bundle> pairs_;   // the smaller number first
};

// Whether the file counts this device as a GPU.
bool is_gpu(NcclPci const& pci);

}  // namespace lanewise
