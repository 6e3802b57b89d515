#pragma once
#include <limits>
#include <optional>
#include <vector>

#include "core/planner/transfer_options.hpp"

namespace lanewise {

// How many bytes of each transfer take each of its options.
struct Division {
  std::vector<std::vector<double>> bytes;            // in the least time
  std::vector<std::vector<double>> least_congested;  // in hardly more time; may be empty
  Seconds makespan{0};                               // no plan with these options is shorter
};

// The division that takes the least time if all transfers begin at once. Nullopt without a solver, or if there are too
// many ways. `wanted`: where the least time is longer, `least_congested` stays empty.
std::optional<Division> best_division(std::vector<OpenTransfer> const& transfers, Model const& model,
                                      Seconds wanted = Seconds(std::numeric_limits<double>::infinity()));

}  // namespace lanewise
