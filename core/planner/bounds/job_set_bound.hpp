#pragma once
// What no plan of transfers, collectives and computing beats: whatever way or algorithm, GPUs compute one thing after
// another, so much must pass each port, and what waits begins no earlier than what it waits for has ended.
#include <optional>

#include "core/planner/bounds/lower_bound.hpp"

namespace lanewise {

// Of a plan for which is_job_set holds. Nullopt where a transfer has no way of known cost.
std::optional<LowerBound> job_set_bound(Plan const& plan, Model const& model);

}  // namespace lanewise
