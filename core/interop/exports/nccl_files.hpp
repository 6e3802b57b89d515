#pragma once
// Files that NCCL reads: its view of a node, and rings that it takes instead of searching.
#include <string>

#include "lanewise/model/model.hpp"

namespace lanewise {

// NCCL_TOPO_FILE of a machine: CPUs, PCIe switches, GPUs and NICs with addresses and links. `as_dumped`: with the GPUs'
// NVLinks and the NICs' rates too, as NCCL_TOPO_DUMP_FILE writes them; NCCL finds these itself, simulators do not.
// Throws PlanError for a cluster.
enum class NcclDetail : std::uint8_t { PciOnly, AsDumped };
std::string nccl_topology_xml(Machine const& machine, NcclDetail detail);

// NCCL_GRAPH_FILE of a machine: the rings over all its GPUs in which no NVLink is used twice, or one ring in the order
// of the tree, each with as many channels as its narrowest hop needs. Throws PlanError for a cluster and for fewer than
// two GPUs.
std::string nccl_graph_xml(Model const& model);

}  // namespace lanewise
