#pragma once
#include "core/calibration/calibrate.hpp"

namespace lanewise {

// Fits the limits that transfers share to the requested patterns, with all figures of `outcome` in place, and adds them
// to it. Assumes limits of the sockets' host memory traffic, which few parts state, only if the stated limits cannot
// explain the patterns. Throws InputError if no pattern can be predicted.
void fit_shared_limits(CalibrationRequest const& request, Machine const& machine, Catalogue& catalogue,
                       CalibrationOutcome& outcome);

}  // namespace lanewise
