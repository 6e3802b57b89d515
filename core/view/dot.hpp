#pragma once
#include <string>

#include "core/machine/machine.hpp"

namespace lanewise {

// The machine as a Graphviz graph: a box for each host, socket, shared host bridge and switch chip; a shape and a
// colour for each kind of device; edges labelled with their links and as thick as their bandwidth. Of a cluster of more
// than four nodes the first is drawn in full and the others as one box each.
std::string dot_text(Machine const& machine);

}  // namespace lanewise
