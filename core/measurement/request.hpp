#pragma once
#include "core/measurement/measurement.hpp"
#include "core/planner/planner.hpp"

namespace lanewise {

// What a point of a series asks of the planner, a request a flow; their ids are their numbers. Throws InputError when
// the machine has no such place.
std::vector<Request> requests_of(MeasuredSeries const& series, MeasuredPoint const& point, Machine const& machine);

}  // namespace lanewise
