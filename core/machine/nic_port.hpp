#pragma once
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The NIC whose port this one sends through: itself, or the one that it names as the owner of the port, of its node or
// of another with which it shares an adapter. Itself also where the machine lacks that node.
PciId port_owner(Machine const& machine, PciId nic);

}  // namespace lanewise
