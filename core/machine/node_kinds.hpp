#pragma once
// The nodes of a cluster as machines of their own, so that code for one machine serves a cluster too.
#include <string_view>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Nodes that are the same machine with the same settings, and that machine without the nodes' names.
struct NodeKind {
  Machine machine;
  std::vector<HostId> hosts;
};

// The kinds in the order of their first nodes; every host is in exactly one. A single machine is its own only kind.
std::vector<NodeKind> node_kinds(Machine const& machine);

// "gpu0" for "node3/gpu0": the name inside its node.
std::string_view short_name(std::string_view name);

}  // namespace lanewise
