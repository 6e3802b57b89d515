#pragma once
#include <string>

#include "lanewise/model/model.hpp"

namespace lanewise {

// The machine as a SimGrid platform (version 4.1): a host for every GPU and host memory, and a route for every ordered
// pair, as one large copy takes it: the resources of its way, after a link of its own with the copy's rate and latency.
// Pairs without a legal way of known cost have no route; a comment names them. Throws PlanError when there are more
// than 512 places.
std::string simgrid_platform(Model const& model);

}  // namespace lanewise
