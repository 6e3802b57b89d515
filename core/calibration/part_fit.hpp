#pragma once
#include <utility>
#include <vector>

#include "core/calibration/calibrate.hpp"
#include "core/calibration/observations.hpp"

namespace lanewise {

struct FittedParts {
  std::vector<FittedFigure> figures;
  std::vector<UnidentifiedValue> unidentified;
  std::vector<double> weights;  // of each observation: 0 for an outlier, 1 at full weight
};

// Fits the targets to the observations by robust_fit(). A device that clearly differs from the others with its part
// gets its own figure.
FittedParts fit_parts(Observations const& observations, Machine const& machine, std::vector<CalibrationTarget> targets);

// Adds the figures to the outcome, and those that are not identified to its overlay.
void add_figures(FittedParts const& parts, CalibrationOutcome& outcome);

// Errors of predictions, which are logarithms, one for each observation.
FitError error_of(Observations const& observations, std::vector<double> const& predictions);

// The targets and values of all fitted figures. Parts come before single devices, whose own parts begin as copies.
std::pair<std::vector<CalibrationTarget>, std::vector<double>> targets_and_values(
    std::vector<FittedFigure> const& figures);

}  // namespace lanewise
