#pragma once
#include <string>
#include <vector>

#include "core/interop/machines/topo_matrix.hpp"
#include "core/machine/machine.hpp"

namespace lanewise {

// One cell in which a machine and the table of `nvidia-smi topo -m` differ.
struct TopoDifference {
  std::string subject;  // "gpu0 > gpu1", "gpu0"
  std::string text;     // "nvidia-smi says PHB, the machine NODE"
};

// GPU0 of the table is gpu0 of the machine; NICs go by the name of their device. A pair is compared once.
std::vector<TopoDifference> topo_differences(Machine const& machine, TopoMatrix const& matrix);

}  // namespace lanewise
