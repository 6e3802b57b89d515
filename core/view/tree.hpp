#pragma once
#include <string>

#include "core/machine/machine.hpp"

namespace lanewise {

// The machine as `lspci -tv` would draw it, with links, ACS and NUMA nodes beside every device, and below the tree what
// does not fit a tree: NVLink, socket links, measured figures, software, notes. Of a cluster: one tree for each kind of
// node, and the fabric leaf by leaf.
std::string tree_text(Machine const& machine);

}  // namespace lanewise
