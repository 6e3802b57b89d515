#pragma once
// A plan and its trace as tables.
#include <string>

#include "core/plan/plan.hpp"
#include "core/plan/trace.hpp"

namespace lanewise {

// Each step with its way and its time alone on an idle machine.
std::string plan_text(Plan const& plan, Machine const& machine);
// Each step's start, end and rate, and the busiest resources.
std::string trace_text(Trace const& trace, Plan const& plan, Machine const& machine);

}  // namespace lanewise
