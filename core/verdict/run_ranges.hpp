#pragma once
#include "core/model/model.hpp"
#include "core/plan/executor.hpp"

namespace lanewise {

// How far a simulated run may be off. Repeats the run with one parameter after another at the ends of its range, and
// adds the 90 % range of the makespan and of every step's duration to the trace. `trace` must be of this plan under
// this model.
void add_trace_ranges(Trace& trace, Plan const& plan, Model const& model, MakeExecutor const& executor);

}  // namespace lanewise
