#pragma once
#include <cstddef>
#include <functional>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/trace.hpp"

namespace lanewise {

// Adds the 90 % range of the makespan and of every step's duration to a simulated trace: how far the run may be off.
// The estimate repeats the run with one parameter after another at the ends of its range; the middle stays the trace's.
// `trace` must be of this plan under this model. `on_estimate` hears after each estimate how many of them are done.
using EstimateListener = std::function<void(std::size_t done, std::size_t all)>;
void add_trace_ranges(Trace& trace, Plan const& plan, Model const& model, EstimateListener const& on_estimate = {});

}  // namespace lanewise
