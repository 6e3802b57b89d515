#pragma once
// What NVLink joins: rings over all participants of a collective, and islands.
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The number of direct NVLinks between each two participants: a row for each.
std::vector<std::vector<int>> links_between(Machine const& machine, std::vector<Place> const& among);

// As many Hamiltonian cycles as the search finds in which no link is used twice in one direction; each in both
// directions. If there is none, the participants in the order given.
std::vector<std::vector<std::size_t>> disjoint_rings(Machine const& machine, std::vector<Place> const& among);

// The connected components of the participants by direct NVLinks; a participant without NVLink is one by itself. Empty
// if one of them is on an NVSwitch.
std::vector<std::vector<std::size_t>> nvlink_islands(Machine const& machine, std::vector<Place> const& among);

}  // namespace lanewise
