#pragma once
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The NIC whose port this one sends through: itself, or the one that it names as the owner of the port. Throws
// std::logic_error where the node has no NIC of that name, which no machine that was read lacks.
PciId port_owner(Machine const& machine, PciId nic);

}  // namespace lanewise
