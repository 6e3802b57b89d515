#pragma once
// What small messages wait for on links that bulk saturates: the buffers that are full in front of them. Sharing of
// rates knows no such delay.
#include <vector>

#include "core/estimate/step_demands.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"

namespace lanewise {

// Adds the wait to the paths of transfers that are smaller than these buffers, for each direction of a link that they
// or their answers take and that bulk transfers saturate meanwhile. Meanwhile are all that need not finish before or
// begin after (`after` counts, durations do not) and that do not wait for the same engine. Steps of collectives have
// none.
void add_link_queues(Model const& model, std::vector<Step> const& steps, StepDemands& demands);

}  // namespace lanewise
