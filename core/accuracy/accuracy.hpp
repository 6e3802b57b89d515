#pragma once
// The model held against measurements: every figure predicted, every fact judged, and how far off it all is.
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/calibration/calibration.hpp"
#include "core/measurement/measurement.hpp"
#include "core/model/interval.hpp"
#include "core/plan/executor.hpp"

namespace lanewise {

// What the judging needs from outside. `executor` may return nullptr where several transfers at once cannot be run.
struct AccuracyContext {
  std::function<Machine(Measurement const&)> machine;
  // Changes the machine after the measurement's own settings: what the command line says.
  std::function<void(Machine&)> override_machine = [](Machine&) {};
  MakeExecutor executor;
  Catalogue& catalogue;
  // Put into the machine as its file says it; its figures win over those that a measurement withholds.
  Calibration const* calibration = nullptr;
  // It was fitted to this very measurement, whose single transfers are then no test of it.
  bool fitted_to_this = false;
  bool ranges = true;  // false: predictions without their ranges, which are most of the work
};

struct PointResult {
  std::string series;
  MeasuredQuantity quantity = MeasuredQuantity::Bandwidth;
  std::string what;                 // "gpu0 > gpu1", "8 at once"
  std::string group;                // mechanism and distance: "pcie_p2p PIX"
  Bytes bytes{0};                   // of each flow; of the largest where they differ
  double measured = 0;              // bytes per second, or seconds
  std::optional<double> predicted;  // absent: refused, a figure is unknown, or it could not be run
  Interval interval;
  std::string binding;   // what bounds the prediction, or why there is none
  bool legal = true;     // the rules allow what was measured
  std::string doubtful;  // why it is left out of the gate; empty: it is in
  bool fitted = false;   // the calibration knows it already: left out too
  SourcePos pos;

  [[nodiscard]] bool in_gate() const { return doubtful.empty() && !fitted; }
  // |predicted / measured - 1|; absent without a prediction.
  [[nodiscard]] std::optional<double> error() const;
};

struct FactResult {
  std::string what;  // "gpu0 > gpu5: pcie_p2p is refused"
  bool agrees = false;
  std::string found;
  std::string doubtful;
  SourcePos pos;

  [[nodiscard]] bool in_gate() const { return doubtful.empty(); }
};

struct MeasurementResult {
  std::string name;
  std::string title;
  std::string machine;
  std::string source;
  std::string grade;
  std::string date;
  std::string method;
  std::string doubtful;
  std::vector<PointResult> points;
  std::vector<FactResult> facts;
};

// Of the points and facts in the gate. Shares, not percents; absent where there is nothing to take them of.
struct ErrorSummary {
  std::size_t points = 0;
  std::optional<double> median, p95, worst;
};
struct AccuracySummary {
  std::optional<double> legality_agreement;  // of facts, and of points that the rules must allow
  std::size_t judged = 0;                    // how many those are
  ErrorSummary bandwidth, latency, makespan;
  std::optional<double> interval_coverage;
  ErrorSummary fitted;          // of points that the calibration was fitted to
  std::size_t left_out = 0;     // doubtful points and facts
  std::size_t unpredicted = 0;  // points in the gate without a prediction
};

// Predicts everything. Throws InputError when the measurement speaks of what its machine does not have.
MeasurementResult evaluate(Measurement const& measurement, AccuracyContext const& world);
AccuracySummary summarise(std::vector<MeasurementResult> const& results);

// `lanewise: accuracy/1`
nlohmann::ordered_json accuracy_json(std::vector<MeasurementResult> const& results);

}  // namespace lanewise
