#pragma once
// How far a simulated run may be off: the run repeated with one parameter after another at the ends of its range.
#include <functional>
#include <memory>

#include "core/model/interval.hpp"
#include "core/plan/executor.hpp"

namespace lanewise {

// The parameters that the steps of a plan hang on: their resources', and those of starts and ways.
std::vector<Parameter> parameters_of(Plan const& plan, Model const& model);

// Adds the range of the makespan and of every step's duration to the trace of this plan under this model.
void add_ranges(Trace& trace, Plan const& plan, Model const& model, MakeExecutor const& executor);

}  // namespace lanewise
