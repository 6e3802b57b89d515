#pragma once
#include <optional>

#include "lanewise/planner/bounds/lower_bound.hpp"

namespace lanewise {

// A time that no plan of transfers, collectives and computing beats, by any ways and algorithms: a GPU computes one
// thing at a time, so many bytes must pass each port, and what waits begins only after what it waits for has ended. For
// a plan for which is_job_set holds. Nullopt if a transfer has no way of known cost.
std::optional<LowerBound> job_set_bound(Plan const& plan, Model const& model);

}  // namespace lanewise
