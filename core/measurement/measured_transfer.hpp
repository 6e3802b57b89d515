#pragma once
// The transfers of a measured point as requests, and the model's prediction for one of them.
#include <optional>
#include <vector>

#include "core/measurement/measurement.hpp"

namespace lanewise {

// The place called `name`. Throws InputError at `pos` if the machine has none.
Place place_at(Machine const& machine, std::string const& name, SourcePos const& pos);

// The request of one flow. Throws InputError at the point if the machine lacks a place.
Request request_of(Machine const& machine, MeasuredSeries const& series, MeasuredPoint const& point,
                   MeasuredFlow const& flow);

// One request for each flow, in order; their ids are their indices.
std::vector<Request> requests_of(Machine const& machine, MeasuredSeries const& series, MeasuredPoint const& point);

// Predicts the series' quantity for a single transfer, in bytes per second or seconds; nullopt if a figure is unknown.
//   makespan:  the whole time.
//   latency:   the whole time of a copy; for a store or load only the path, as a running kernel sees it; of a
//              pipelined series the time between transfers that follow one another.
//   bandwidth: includes the time to start, unless the series is pipelined.
std::optional<double> predicted_alone(Model const& model, MeasuredSeries const& series, Request const& request,
                                      Way const& way);

}  // namespace lanewise
