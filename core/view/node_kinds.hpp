#pragma once
// The nodes of a cluster as machines of their own, so that a view of one machine serves a cluster too.
#include <vector>

#include "core/machine/machine.hpp"

namespace lanewise {

// Nodes that are the same machine with the same settings, and that machine without the nodes' names.
struct NodeKind {
  Machine machine;
  std::vector<HostId> hosts;
};

// In the order of their first nodes; every host is in exactly one. A single machine is its own only kind.
std::vector<NodeKind> node_kinds(Machine const& machine);
// "node0..node31"
std::string host_names(Machine const& machine, std::vector<HostId> const& hosts);

}  // namespace lanewise
