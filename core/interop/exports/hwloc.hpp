#pragma once
#include <string>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The machine as hwloc's XML, version 2.0: packages, NUMA nodes, cores, the PCI tree with link speeds, GPUs, NICs and
// drives as OS devices, and NVLink as a matrix of bandwidths. The format has no place for ACS, IOMMU, sockets' links
// and products' figures. Cores that the machine file does not list are numbered, one a NUMA node. Throws PlanError for
// a cluster.
std::string hwloc_xml(Machine const& machine);

}  // namespace lanewise
