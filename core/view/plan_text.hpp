#pragma once
// A plan and its trace as tables.
#include <string>

#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/trace.hpp"

namespace lanewise {

// "9.3 ms to 11.5 ms"; empty if absent.
std::string range_text(std::optional<TimeRange> const& range);

// A row for each step: its way, and its time on an idle machine.
std::string plan_text(Plan const& plan, Machine const& machine);
// A row for each step: its start, end and rate; then the busiest resources.
std::string trace_text(Trace const& trace, Plan const& plan, Machine const& machine);

}  // namespace lanewise
