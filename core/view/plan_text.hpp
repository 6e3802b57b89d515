#pragma once
// A plan and its trace as tables.
#include <string>

#include "core/plan/plan.hpp"
#include "core/plan/trace.hpp"

namespace lanewise {

// "9.3 ms to 11.5 ms"; empty where there is none.
std::string range_text(std::optional<TimeRange> const& range);

// Each step with its way and its time alone on an idle machine.
std::string plan_text(Plan const& plan, Machine const& machine);
// Each step's start, end and rate, and the busiest resources.
std::string trace_text(Trace const& trace, Plan const& plan, Machine const& machine);

}  // namespace lanewise
