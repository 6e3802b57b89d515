#pragma once
// Names of places for queries about every pair.
#include <string>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// Expands ranges such as gpu0..gpu3. Throws InputError for a place that the machine does not have.
std::vector<std::string> places_named(Machine const& machine, std::vector<std::string> const& texts);

// All GPUs, NICs and drives, then host memories; of a cluster only those of its first two nodes.
std::vector<std::string> all_endpoints(Machine const& machine);

// All GPUs.
std::vector<std::string> all_gpus(Machine const& machine);

}  // namespace lanewise
