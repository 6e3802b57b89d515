#pragma once
// Imports the topology files that NCCL and RCCL write (NCCL_TOPO_DUMP_FILE) and read (NCCL_TOPO_FILE).
#include "core/interop/machines/nccl/document.hpp"
#include "core/interop/machines/topo_parts.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Reads the machine in a topology file. What the file does not say stays unknown or is inferred, and Machine::notes say
// so: root ports, switch products of virtual bridges, socket links, passthrough. A NIC with several ports becomes one
// function with the first port's name and the sum of the rates. Static files (NCCL_TOPO_FILE) have no NVLink: what the
// product has is added, with a note. `options` names parts that the file does not name, or names wrongly. Throws
// InputError where there is no machine to read, and where a named part does not exist.
Machine read_nccl_topology(SourceText const& source, TopoOptions const& options, Catalogue& catalogue);
// The same without options.
Machine read_nccl_topology(SourceText const& source, Catalogue& catalogue);

// The same of a system from another source.
Machine machine_of_nccl(NcclSystem system, std::string const& name, TopoOptions const& parts, Catalogue& catalogue);

}  // namespace lanewise
