#pragma once
#include <string>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The machine as a Graphviz graph. Hosts, sockets, shared host bridges and switch chips are boxes; each kind of device
// has a shape and a colour; edges are labelled with their links, and as thick as their bandwidth. Of a cluster of more
// than four nodes only the first is drawn in full, the others as one box each.
std::string dot_text(Machine const& machine);

}  // namespace lanewise
