#pragma once
#include <string>
#include <vector>

#include "core/interop/fabrics/ibnetdiscover.hpp"
#include "lanewise/machine/catalogue.hpp"

namespace lanewise {

// A cluster file made of a fabric, and what was inferred.
struct FabricCluster {
  std::string yaml;
  std::string json;  // the same document
  std::vector<std::string> notes;
};

// The hosts of the fabric as nodes of one machine, by their adapters' descriptions ("HOST DEVICE"), in the order of
// their leaf switches. The kind of the fabric is what fits the cables: direct, single_switch, leaf_spine or
// rail_optimised; notes name what does not fit. `machine_name` must be a single machine with as many RDMA adapters as
// the fullest host. Throws InputError otherwise, and when no adapter has a host's name.
FabricCluster cluster_of(IbFabric const& fabric, std::string const& name, std::string const& machine_name,
                         Catalogue& catalogue);

}  // namespace lanewise
