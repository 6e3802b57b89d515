#pragma once
#include <map>
#include <string>

#include "core/interop/host/facts.hpp"

namespace lanewise {

// Gives functions the links that their bandwidths (GB/s, by address) tell. hwloc stores a bandwidth, which several
// links have, such as gen3 x16 and gen4 x8: devices of a kind have a usual width, and a note says that it was taken.
void infer_hwloc_links(std::map<std::string, double> const& bandwidths, HostFacts& facts);

}  // namespace lanewise
