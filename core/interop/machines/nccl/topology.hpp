#pragma once
// Import of the topology files that NCCL and RCCL write (NCCL_TOPO_DUMP_FILE) and read (NCCL_TOPO_FILE).
#include "core/io/file.hpp"
#include "core/machine/catalogue.hpp"
#include "core/machine/machine.hpp"

namespace lanewise {

// The machine of a topology file. What the file does not say stays unknown or is inferred, and Machine::notes say so:
// root ports, switch products of virtual bridges, socket links, passthrough. A NIC with several ports is one function
// with the first port's name and the rates of all ports together. Throws InputError with everything that is wrong.
Machine read_nccl_topology(SourceText const& source, Catalogue& catalogue);

}  // namespace lanewise
