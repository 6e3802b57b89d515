#pragma once
#include <string>
#include <vector>

#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/nccl/links.hpp"

namespace lanewise {

// A GPU of the file and where it is in the machine.
struct NcclPlacedGpu {
  PciId id{};
  SocketId socket{};
  std::string sm;
};

// Adds the file's links of GPUs to each other, to their CPUs and to NVSwitches. `gpus`: in file order, as in `links`.
// Throws InputError where a named part has fewer ports than the file gives the GPU links: it is not that GPU.
void add_gpu_links(NcclLinks const& links, std::vector<NcclPlacedGpu> const& gpus, MachineBuilder& builder);

}  // namespace lanewise
