#pragma once
#include <string>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// One line: "mine: 2 sockets, 2 NUMA nodes, 4 PCIe switches, 8 GPUs, 9 NICs, 1 NVMe drive, virtual (kvm)".
std::string machine_summary(Machine const& machine);

}  // namespace lanewise
