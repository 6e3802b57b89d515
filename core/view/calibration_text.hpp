#pragma once
#include <string>

#include "core/calibration/calibrate.hpp"

namespace lanewise {

// The fitted figures, the errors before and after, and what is left out or not identified.
std::string calibration_text(CalibrationOutcome const& outcome);

}  // namespace lanewise
