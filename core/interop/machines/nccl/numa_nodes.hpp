#pragma once
// Which NUMA nodes of NCCL's file share a socket: firmware divides sockets (NPS of AMD, SNC of Intel), and NCCL writes
// a <cpu> for every node.
#include <string>

#include "core/interop/machines/nccl/document.hpp"
#include "lanewise/machine/part.hpp"

namespace lanewise {

struct NumaDivision {
  int nodes_per_socket = 1;
  std::string reason;  // for a note; empty: nothing tells it, or there is one node
};

// Nodes are numbered socket by socket. Two facts tell how many a socket has:
// - EPYC has at most two sockets, and four nodes or more are those of two. Naples always has four a socket.
// - of a CPU whose number of cores is known, the cores of all nodes tell the number of sockets. Linux numbers second
//   threads behind the cores of all sockets, so one node's affinity tells their number.
// `cpu`: its part; nullptr: unknown.
NumaDivision numa_division(NcclSystem const& system, Part const* cpu);

}  // namespace lanewise
