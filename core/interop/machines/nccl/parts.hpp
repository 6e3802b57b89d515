#pragma once
// Which part of the catalogue stands for what NCCL's file shows. Each returns a name, or "" where it stays unknown; a
// note then says why, and another where the name is inferred from less than an id.
#include <string>

#include "core/interop/machines/machine_builder.hpp"
#include "core/interop/machines/nccl/document.hpp"

namespace lanewise {

std::string cpu_part(NcclCpu const& cpu, MachineBuilder& builder);
// `nvlinks`: how many links the file gives the GPU; a part with fewer ports is not it.
std::string gpu_part(NcclPci const& pci, int nvlinks, MachineBuilder& builder);
std::string nic_part(NcclPci const& pci, MachineBuilder& builder);
std::string switch_part(NcclPci const& bridge, MachineBuilder& builder);

// NVLink generation of a GPU: of its part, or else of its compute capability ("80"); 0: not known.
int nvlink_generation(Part const* gpu, std::string const& sm);
// The xGMI link between GPUs of this part.
std::string xgmi_part(Part const* gpu, MachineBuilder& builder);

}  // namespace lanewise
