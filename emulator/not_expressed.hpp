#pragma once
#include <vector>

#include "core/interop/machines/roles.hpp"
#include "emulator/pci_layout.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::emulator {

// What of a host's machine file QEMU's models cannot show. Entries of several devices share a reason. `numa_nodes`: in
// the order of their numbers in the guest; `newest_link`: the newest PCIe generation that QEMU's root ports know.
std::vector<NotExpressed> not_expressed(Machine const& machine, HostId host, PciLayout const& layout,
                                        std::vector<NumaId> const& numa_nodes, int newest_link);

}  // namespace lanewise::emulator
