#pragma once
// How far a machine drifts while it is measured: on a shared host, copies to and from host memory slow down with what
// the neighbours do, and clocks change. A few reference transfers, repeated all along, show it.
#include <vector>

#include "core/measurement/measurement.hpp"

namespace lanewise {

// The reference transfers of a machine: between the first GPU and the memory next to it, both ways, and from it to the
// next GPU, each of at most `max_bytes`.
std::vector<Request> reference_requests(Machine const& machine, Bytes max_bytes);

// By how much figures of such transfers may be off because of drift, either way, as a share: half the spread of the
// reference transfers between places of the same kinds (host memory or device). 0 where none was measured.
double session_noise(Measurement const& measurement, Machine const& machine, std::vector<Request> const& requests);

// By how much a measured figure may be off, either way: the noise of its median (half its spread where only that is
// known), and the drift. Absent: nothing is known of either.
std::optional<double> noise_of(Measurement const& measurement, Machine const& machine, MeasuredPoint const& point,
                               std::vector<Request> const& requests);

}  // namespace lanewise
