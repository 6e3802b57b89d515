#pragma once
// Imports the table that `nvidia-smi topo -m` prints.
#include <string>

#include "core/interop/machines/topo_parts.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Makes a machine with the distances and NVLinks of the table: devices at PIX share a switch, devices at PXB are below
// different switches under one switch, and so on. Many machines have the same table; Machine::notes say what was
// inferred, what of the table is cut or odd, and which of its distances no PCIe tree can have. A table of
// `nvidia-smi topo -p2p` in the same text is held against the rules. Throws InputError when there is no table, when a
// part does not exist, and when the table has more NVLinks than the named GPU has ports.
Machine read_topo_m(SourceText const& source, TopoOptions const& options, Catalogue& catalogue);

}  // namespace lanewise
