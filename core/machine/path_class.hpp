#pragma once
// How far apart two PCI functions are, in the words of `nvidia-smi topo -m`.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/machine/machine.hpp"

namespace lanewise {

// Ordered from near to far. PIX: one PCIe switch; PXB: several; PHB: a host bridge; NODE: host bridges of one NUMA
// node; SYS: NUMA nodes.
enum class PathClass : std::uint8_t { Self, Pix, Pxb, Phb, Node, Sys, Network };
std::string_view to_string(PathClass path);  // X, PIX, PXB, PHB, NODE, SYS, NET

// What the PCI tree shows. Virtual switches of one chip count as separate switches, as in the tool.
PathClass path_class(Machine const& machine, PciId a, PciId b);
// Between a function and host memory: PHB, or NODE/SYS when it belongs to another NUMA node.
PathClass path_class(Machine const& machine, PciId a, NumaId memory);

// Between any two places, in the words of the tool: "NV12", "PIX", "X".
std::string path_between(Machine const& machine, Place const& from, Place const& to);

// The nearest switch above both (or one of them), or nullopt when they meet at a host bridge or above.
std::optional<PciId> common_switch(Machine const& machine, PciId a, PciId b);

// The link above a function where the description does not state it: its stated maximum, else what the datasheets of
// its two ends would negotiate; nullopt when the function's own datasheet does not say.
std::optional<PcieLink> assumed_link(Machine const& machine, PciId id);

// Links bonded straight between two GPUs, or through NVSwitch; 0 when there are none.
int nvlink_count(Machine const& machine, PciId a, PciId b);

}  // namespace lanewise
