#pragma once
// NVLink and xGMI from the matrices of distances in hwloc's XML.
#include <map>
#include <pugixml.hpp>
#include <string>

#include "core/interop/host/facts.hpp"

namespace lanewise {

// What an entry of a matrix stands for.
struct HwlocPlace {
  enum class Kind : std::uint8_t { Gpu, Switch, Cpu };
  Kind kind = Kind::Gpu;
  std::string bdf;                 // of the GPU or the switch
  std::string compute_capability;  // of a GPU, "8.0"; empty: unknown
};

// Reads every matrix of the document. `places`: by hwloc's gp_index, "802".
void read_hwloc_distances(pugi::xml_node topology, std::map<std::string, HwlocPlace> const& places, HostFacts& facts);

}  // namespace lanewise
