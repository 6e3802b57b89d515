#pragma once
#include <nlohmann/json_fwd.hpp>

#include "core/machine/machine.hpp"

namespace lanewise {

// A single machine as its file's tree ("machine/1"), which loads back, since JSON is YAML. A cluster as
// "cluster-view/1": every kind of node as such a tree with the names of its nodes, and the fabric leaf by leaf.
// A device of a node is called as in its tree with the node before it: "node3/gpu0".
nlohmann::ordered_json machine_json(Machine const& machine);

}  // namespace lanewise
