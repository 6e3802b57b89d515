#pragma once
// Fits the figures of a machine's parts to measured transfers. The fit is robust against outliers, gives each figure an
// interval, and lists the figures that the measurement does not identify. It changes the model's inputs, never its
// rules.
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/calibration/calibration.hpp"
#include "core/calibration/observations.hpp"

namespace lanewise {

struct CalibrationRequest {
  Measurement measurement;
  std::string digest;                   // FNV-1a digest of its file
  std::vector<std::string> patterns;    // names of series to fit shared limits to; empty: shared limits are not fitted
  Observations::MakeExecutor executor;  // runs the patterns
};

struct FittedFigure {
  CalibrationTarget target;
  Dimension unit = Dimension::Ratio;
  std::optional<double> before;  // absent: the part stated no such limit
  CalibratedValue fitted;
};

// Errors as fractions of the measured figures.
struct FitError {
  std::size_t points = 0;
  double median = 0;
  double p95 = 0;
};

struct CalibrationOutcome {
  Calibration overlay;
  std::vector<FittedFigure> figures;  // those of the overlay, in the same order
  FitError before, after;             // on single transfers
  FitError patterns_before, patterns_after;
  std::size_t outliers = 0;             // single transfers that the fit gave weight 0
  std::map<std::string, int> left_out;  // figures that the fit does not use, by reason
};

// `machine` as its file describes it. Throws InputError if the measurement has no usable figure.
CalibrationOutcome calibrate(CalibrationRequest const& request, Machine const& machine, Catalogue& catalogue);

// The overlay with the figures before the fit and the errors. Reads back as an overlay.
nlohmann::ordered_json calibration_json(CalibrationOutcome const& outcome);

}  // namespace lanewise
