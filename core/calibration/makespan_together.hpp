#pragma once
// A few transfers released together, without a simulator: max-min sharing of what their demands use, as SimGrid shares.
#include <optional>
#include <vector>

#include "core/model/model.hpp"

namespace lanewise {

struct Released {
  Demand demand;
  Bytes bytes{0};
};

// When the last of them ends; nullopt where a figure is unknown, or they would queue for an engine: that takes the
// simulator.
std::optional<Seconds> makespan_together(Model const& model, std::vector<Released> const& transfers);

}  // namespace lanewise
