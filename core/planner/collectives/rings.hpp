#pragma once
// Closed ways over all participants of a collective along their NVLinks.
#include <vector>

#include "core/machine/machine.hpp"

namespace lanewise {

// Direct NVLink between participants, in links; a row for each.
std::vector<std::vector<int>> links_between(Machine const& machine, std::vector<Place> const& among);

// As many rings as can be found in which no link is used twice in one direction; each in both directions. Where there
// is none, everyone in the order given, once.
std::vector<std::vector<std::size_t>> disjoint_rings(Machine const& machine, std::vector<Place> const& among);

// The participants in parts that NVLink joins within and not between; none where there is an NVSwitch. Whoever has no
// NVLink is a part by itself.
std::vector<std::vector<std::size_t>> nvlink_islands(Machine const& machine, std::vector<Place> const& among);

}  // namespace lanewise
