#pragma once
// Imports the table that `nvidia-smi topo -m` prints.
#include <string>

#include "core/io/file.hpp"
#include "core/machine/catalogue.hpp"
#include "core/machine/machine.hpp"

namespace lanewise {

// Names of parts, which the table does not give; empty ones stay unknown.
struct TopoOptions {
  std::string gpu;
  std::string cpu;
  std::string nic;
};

// Makes a machine with the distances and NVLinks of the table: devices at PIX share a switch, devices at PXB are below
// different switches under one switch, and so on. Many machines have the same table; Machine::notes say what was
// inferred. Throws InputError with every error, also when no PCIe tree can have these distances.
Machine read_topo_m(SourceText const& source, TopoOptions const& options, Catalogue& catalogue);

}  // namespace lanewise
