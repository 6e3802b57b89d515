#pragma once
#include "core/model/model.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/trace.hpp"

namespace lanewise {

// Adds the 90 % range of the makespan and of every step's duration to a simulated trace: how far the run may be off.
// The estimate repeats the run with one parameter after another at the ends of its range; the middle stays the trace's.
// `trace` must be of this plan under this model.
void add_trace_ranges(Trace& trace, Plan const& plan, Model const& model);

}  // namespace lanewise
