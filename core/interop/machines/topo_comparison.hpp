#pragma once
#include <string>
#include <vector>

#include "core/interop/machines/topo_matrix.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// A difference between a machine and the table of `nvidia-smi topo -m`.
struct TopoDifference {
  std::string subject;  // "gpu0 > gpu1", "gpu0"
  std::string text;     // "nvidia-smi says PHB, the machine NODE"
};

// Compares every device and every pair once. GPU0 of the table is gpu0 of the machine; NICs are matched by device name,
// or by number where the table has no legend.
std::vector<TopoDifference> topo_differences(Machine const& machine, TopoMatrix const& matrix);

}  // namespace lanewise
