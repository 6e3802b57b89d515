#pragma once
// Finds the catalogue's parts for what NCCL's file shows. Each function returns a name, or "" where the part stays
// unknown. A note says why it is unknown, or that it was inferred from less than an id.
#include <string>

#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/nccl/document.hpp"

namespace lanewise {

std::string cpu_part(NcclCpu const& cpu, MachineBuilder& builder);
// `nvlinks`: the number of links that the file gives the GPU; parts with fewer ports are ruled out.
std::string gpu_part(NcclPci const& pci, int nvlinks, MachineBuilder& builder);
std::string nic_part(NcclPci const& pci, MachineBuilder& builder);
std::string switch_part(NcclPci const& bridge, MachineBuilder& builder);

// NVLink generation of a GPU, by its part, or else by its compute capability ("80"); 0: not known.
int nvlink_generation(Part const* gpu, std::string const& sm);

}  // namespace lanewise
