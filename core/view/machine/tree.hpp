#pragma once
#include <string>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The machine as `lspci -tv` draws it, with link, ACS and NUMA node beside every device. Below the tree: NVLink, socket
// links, measured figures, software and notes. For a cluster: one tree for each kind of node, and the fabric by leaf.
std::string tree_text(Machine const& machine);

}  // namespace lanewise
