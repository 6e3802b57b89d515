#pragma once
// The matrix of hwloc's XML that has NVLink and xGMI.
#include <cstddef>
#include <map>
#include <pugixml.hpp>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The numbers (gp_index) of what such links join.
struct HwlocLinkEnds {
  std::map<PciId, std::size_t> gpus;
  std::size_t nvswitch = 0;  // all NVSwitches of a host are one crossbar; 0: none
};

// Adds it to a <topology>, where the machine has such links.
void add_hwloc_distances(Machine const& machine, HwlocLinkEnds const& ends, pugi::xml_node topology);

}  // namespace lanewise
