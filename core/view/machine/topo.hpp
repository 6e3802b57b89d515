#pragma once
#include <string>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The matrix of `nvidia-smi topo -m` (driver 535 and later), character for character except for the underlined header:
// GPUs, and NICs with an RDMA device, in file order. Links between AMD GPUs count as NV# too. For a cluster: one matrix
// for each kind of node.
std::string topo_matrix(Machine const& machine);

}  // namespace lanewise
