#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/nccl/document.hpp"

namespace lanewise {

// NVLink, xGMI and C2C of all GPUs of a file, once for each pair. GPUs count in file order.
class NcclLinks {
 public:
  struct Bundle {
    NcclLink::Kind kind = NcclLink::Kind::NvLink;
    int count = 0;
  };
  struct OfGpu {
    std::string bus_id;
    int to_switch = 0;  // links to NVSwitches
    int to_cpu = 0;     // NVLinks to its own CPU
    double c2c = 0;     // MB/s to its own CPU
    int nvlinks = 0;    // all NVLinks
  };

  // Links that lead nowhere are left out, with notes.
  NcclLinks(NcclSystem const& system, MachineBuilder& builder);

  [[nodiscard]] std::vector<OfGpu> const& gpus() const { return gpus_; }
  [[nodiscard]] std::map<std::pair<std::size_t, std::size_t>, Bundle> const& pairs() const { return pairs_; }

 private:
  void collect_gpus(NcclPci const& pci);
  void read_link(std::size_t gpu, NcclLink const& link);
  void join_directions();

  MachineBuilder& builder_;
  std::vector<NcclPci const*> found_;
  std::vector<OfGpu> gpus_;
  std::map<std::pair<std::size_t, std::size_t>, Bundle> listed_;  // from one GPU to another
  std::map<std::pair<std::size_t, std::size_t>, Bundle> pairs_;   // the smaller number first
};

// Whether the file counts this device as a GPU.
bool is_gpu(NcclPci const& pci);

}  // namespace lanewise
