#pragma once
// One transfer of a measured point: what was asked for, and what the model says of the same figure.
#include <optional>
#include <vector>

#include "core/measurement/measurement.hpp"

namespace lanewise {

// The place of a name that a measurement file has at `pos`; throws InputError there when the machine has none.
Place place_at(Machine const& machine, std::string const& name, SourcePos const& pos);

// Throws InputError at the point where the machine has no such place.
Request request_of(Machine const& machine, MeasuredSeries const& series, MeasuredPoint const& point,
                   MeasuredFlow const& flow);

// Of every flow, in their order; their ids are their numbers.
std::vector<Request> requests_of(Machine const& machine, MeasuredSeries const& series, MeasuredPoint const& point);

// The series' quantity of one transfer alone: bytes per second, or seconds; nullopt where a figure is unknown.
// A makespan is all of the time. Latency of a copy is the whole of it, that of a store or load the way alone, as seen
// from a running kernel; a bandwidth counts starts unless many transfers are in flight.
std::optional<double> predicted_alone(Model const& model, MeasuredSeries const& series, Request const& request,
                                      Way const& way);

}  // namespace lanewise
