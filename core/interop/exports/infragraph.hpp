#pragma once
#include <string>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The machine or cluster as an Infrastructure of InfraGraph (API 2.x) in YAML: one device for each kind of node, with
// its components, links and edges, and one for switches of the network; instances of them; edges of the network.
// Descriptions hold what the schema has no key for: parts, PCIe generation and width. ACS, IOMMU and addresses are left
// out.
std::string infragraph_yaml(Machine const& machine);

}  // namespace lanewise
