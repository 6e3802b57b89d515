#pragma once
#include <string>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The machine as a Graphviz graph of about 16:9. Hosts, sockets, shared host bridges and switch chips are boxes; each
// kind of device has a shape and a colour; lines are as thick as their bandwidth, and what a link is stands in the
// lower of its ends. Of a cluster the first node of each kind is drawn in full, and all nodes alike as one; likewise a
// network of many switches. `route`: hops as why/1 has them, which stand out; the nodes of its ends are drawn in full.
std::string dot_text(Machine const& machine, std::vector<std::string> const& route = {});

}  // namespace lanewise
