#pragma once
// Import of the table that `nvidia-smi topo -m` prints.
#include <string>

#include "core/io/file.hpp"
#include "core/machine/catalogue.hpp"
#include "core/machine/machine.hpp"

namespace lanewise {

// What the table does not say: the parts by name; empty ones stay unknown.
struct TopoOptions {
  std::string gpu;
  std::string cpu;
  std::string nic;
};

// A machine whose distances and NVLinks are those of the table: devices that are PIX share a switch, those that are
// PXB share switches below one, and so on. Many machines have the same table; Machine::notes say what was inferred.
// Throws InputError with everything that is wrong, also where no tree can have the distances.
Machine read_topo_m(SourceText const& source, TopoOptions const& options, Catalogue& catalogue);

}  // namespace lanewise
