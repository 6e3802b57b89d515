#pragma once
// Imports the topology files that NCCL and RCCL write (NCCL_TOPO_DUMP_FILE) and read (NCCL_TOPO_FILE).
#include "core/interop/machines/nccl/document.hpp"
#include "core/interop/machines/topo_m.hpp"
#include "core/io/file.hpp"
#include "core/machine/catalogue.hpp"
#include "core/machine/machine.hpp"

namespace lanewise {

// Reads the machine in a topology file. What the file does not say stays unknown or is inferred, and Machine::notes say
// so: root ports, switch products of virtual bridges, socket links, passthrough. A NIC with several ports becomes one
// function with the first port's name and the sum of the rates. Throws InputError with every error in the file.
Machine read_nccl_topology(SourceText const& source, Catalogue& catalogue);

// The same of a system from another source. `parts` names products; empty names: what the system says.
Machine machine_of_nccl(NcclSystem system, std::string const& name, TopoOptions const& parts, Catalogue& catalogue);

}  // namespace lanewise
