#pragma once
// The makespan of a few transfers that are released together, by the estimate of core/estimate. Quirks of parts (such
// as the posted-write collapse) do not count.
#include <optional>
#include <vector>

#include "lanewise/model/model.hpp"

namespace lanewise {

struct Released {
  Demand demand;
  Bytes bytes{0};
};

// From their release to the end of the last. nullopt if a figure is unknown, or if they would queue for an engine,
// which only the simulator models.
std::optional<Seconds> makespan_together(Model const& model, std::vector<Released> const& transfers);

}  // namespace lanewise
