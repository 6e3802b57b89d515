#pragma once
// Traces of the planner's estimates, for tests that need no simulator.
#include "lanewise/estimate/estimating_executor.hpp"

namespace lanewise::test {

inline Trace estimated(Model const& model, Plan const& plan) { return EstimatingExecutor(model).run(plan); }

}  // namespace lanewise::test
