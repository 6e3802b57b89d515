#pragma once
#include <string>

#include "core/machine/machine.hpp"

namespace lanewise {

// The matrix of `nvidia-smi topo -m` (driver 535 and later), character for character but for the terminal's underline
// around its header: GPUs and the NICs that have an RDMA device, in file order. Links between AMD GPUs count as NV#
// too. Of a cluster: one matrix for each kind of node.
std::string topo_matrix(Machine const& machine);

}  // namespace lanewise
