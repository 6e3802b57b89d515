#pragma once
// The places that questions about every pair are asked of.
#include <string>
#include <vector>

#include "core/machine/machine.hpp"

namespace lanewise {

// The names in these texts, ranges such as gpu0..gpu3 written out. Throws InputError for a place that is not there.
std::vector<std::string> places_named(Machine const& machine, std::vector<std::string> const& texts);

// Names of all GPUs, NICs and drives, then of host memory; of a cluster those of its first two nodes.
std::vector<std::string> all_endpoints(Machine const& machine);

// Names of all GPUs.
std::vector<std::string> all_gpus(Machine const& machine);

}  // namespace lanewise
