#pragma once
// Fits the figures of a machine's parts to measured single transfers: robustly, each with its interval, and with a list
// of what the measurement cannot tell. The physics stays the model's; only its inputs move.
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
  std::string digest;                   // of its file
  std::vector<std::string> patterns;    // series from which limits that transfers share are fitted; none: none are
  Observations::MakeExecutor executor;  // runs those
};

struct FittedFigure {
  CalibrationTarget target;
  Dimension unit = Dimension::Ratio;
  std::optional<double> before;  // absent: the part had no such limit
  CalibratedValue fitted;
};

// Shares of the measured figures.
struct FitError {
  std::size_t points = 0;
  double median = 0;
  double p95 = 0;
};

struct CalibrationOutcome {
  Calibration overlay;
  std::vector<FittedFigure> figures;  // those of the overlay, in its order
  FitError before, after;             // of the single transfers
  FitError patterns_before, patterns_after;
  std::size_t outliers = 0;  // single transfers that the fit gave no weight
  std::map<std::string, int> left_out;
};

// The machine as its file says it. Throws InputError when the measurement has no figure that can be used.
CalibrationOutcome calibrate(CalibrationRequest const& request, Machine const& machine, Catalogue& catalogue);

// The overlay, with the figures before it and the errors; it reads back as an overlay.
nlohmann::ordered_json calibration_json(CalibrationOutcome const& outcome);

}  // namespace lanewise
