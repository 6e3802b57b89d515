#pragma once
#include <nlohmann/json_fwd.hpp>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// A single machine as the tree of its file ("machine/1"), which loads back because JSON is YAML. A cluster as
// "cluster-view/1": a tree for every kind of node with the names of its nodes, and the fabric by leaf. A device of a
// node has the name in the node's tree, after the node's name: "node3/gpu0".
nlohmann::ordered_json machine_json(Machine const& machine);

}  // namespace lanewise
