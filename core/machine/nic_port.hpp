#pragma once
#include <map>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The NIC whose port this one sends through: itself, or the one that it names as the owner of the port, of its node or
// of another with which it shares an adapter. Itself also where the machine lacks that node.
PciId port_owner(Machine const& machine, PciId nic);

// Of each adapter that several nodes share, the NICs of the other nodes, by the NIC that owns the port.
std::map<PciId, std::vector<PciId>> shared_adapters(Machine const& machine);

}  // namespace lanewise
