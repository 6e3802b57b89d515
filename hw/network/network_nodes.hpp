#pragma once
// The processes of plans over the network: the first runs plans, the others serve it.
#include <memory>

#include "hw/nodes/group.hpp"
#include "hw/nodes/nodes.hpp"
#include "hw/options/network_options.hpp"

namespace lanewise::hw {

std::unique_ptr<Nodes> make_network_nodes(std::unique_ptr<Group> group, Completion completion);

}  // namespace lanewise::hw
