#pragma once
// NVLink between GPUs, to NVSwitches and to CPUs, from what NVML says about every link.
#include <string>
#include <vector>

#include "core/interop/host/facts.hpp"
#include "core/interop/machines/machine_builder.hpp"

namespace lanewise {

struct PlacedGpu {
  std::string bdf;
  PciId id{};
  SocketId socket{};
};

void add_gpu_links(HostFacts const& facts, std::vector<PlacedGpu> const& gpus, MachineBuilder& builder);

// False when a GPU waits for its fabric manager, or NVLinks to switches are down.
bool fabric_is_ready(HostFacts const& facts);
// Whether the driver reports PCIe peer access between GPUs whose product does not support it.
bool refusal_is_lifted(HostFacts const& facts, Machine const& machine);

// NVML's pair of these two PCI addresses, or nullptr.
NvmlPair const* find_pair(NvmlFacts const& nvml, std::string const& from, std::string const& to);

}  // namespace lanewise
