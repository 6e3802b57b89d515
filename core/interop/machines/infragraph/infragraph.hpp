#pragma once
// Imports an Infrastructure of InfraGraph (API 2.x), which MLCommons Chakra, ASTRA-sim and Keysight's tools exchange.
#include <string_view>

#include "core/interop/likeness.hpp"
#include "core/interop/machines/topo_m.hpp"
#include "lanewise/io/file.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

Likeness recognise_infragraph(std::string_view text);

// The machine of the device with most accelerators. Edges from CPUs outwards are the PCIe tree; edges among
// accelerators, and to switches that only they reach, are NVLink. Notes say what was inferred, and that the network of
// the file is left out. `parts` names products where descriptions do not begin with a part's name. Throws InputError
// with every error, also for the older schema.
Machine read_infragraph(SourceText const& source, TopoOptions const& parts, Catalogue& catalogue);

}  // namespace lanewise
