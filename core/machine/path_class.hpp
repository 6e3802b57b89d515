#pragma once
// The distance between two PCI functions, in the words of `nvidia-smi topo -m`.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Ordered from near to far. PIX: one PCIe switch; PXB: several; PHB: a host bridge; NODE: host bridges of one NUMA
// node; SYS: NUMA nodes.
enum class PathClass : std::uint8_t { Self, Pix, Pxb, Phb, Node, Sys, Network };
std::string_view to_string(PathClass path);  // X, PIX, PXB, PHB, NODE, SYS, NET

// By the PCI tree. Virtual switches of one chip count as separate switches, as in the tool.
PathClass path_class(Machine const& machine, PciId a, PciId b);
// Between a function and host memory: PHB for its own NUMA node, NODE for another of its socket, else SYS.
PathClass path_class(Machine const& machine, PciId a, NumaId memory);

// Between any two places, as the tool prints it: "NV12", "PIX", "X".
std::string path_between(Machine const& machine, Place const& from, Place const& to);

// The nearest switch above both (possibly one of them), or nullopt when they only meet at a host bridge or above.
std::optional<PciId> common_switch(Machine const& machine, PciId a, PciId b);

// The link above a function when the machine file does not give it: its stated maximum, else what the datasheets of
// both ends would negotiate. Nullopt when the function's part has no link.
std::optional<PcieLink> assumed_link(Machine const& machine, PciId id);

// The number of NVLinks between two GPUs, direct or through NVSwitch; 0 when there are none.
int nvlink_count(Machine const& machine, PciId a, PciId b);

}  // namespace lanewise
