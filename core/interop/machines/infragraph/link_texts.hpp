#pragma once
// What names, descriptions and rates of InfraGraph's links tell: the format has no other place for it. A null link,
// which an edge may have, tells nothing.
#include <optional>

#include "core/interop/machines/infragraph/document.hpp"
#include "lanewise/machine/part.hpp"
#include "lanewise/machine/pcie_link.hpp"

namespace lanewise {

// Whether it is NVLink, xGMI, UALink or C2C.
bool joins_gpus(InfraLink const* link);

// Generation and width that the texts give, such as "PCIe gen4 x16" or "PCIe 4.0 x16"; else those of its rate.
std::optional<PcieLink> pcie_link_of(InfraLink const* link);

// How many links a bond has: what its name ends with ("nvlink-4-x18"), else its rate over that of one such link.
int links_in_bond(InfraLink const* link, Part const* one);

}  // namespace lanewise
