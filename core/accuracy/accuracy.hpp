#pragma once
// Compares the model with measurements: predicts every figure, checks every fact, and summarises the errors.
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/accuracy/point_class.hpp"
#include "core/calibration/calibration.hpp"
#include "core/measurement/measurement.hpp"
#include "lanewise/model/interval.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise {

// What an evaluation needs from outside. `executor` may return nullptr if nothing here runs several transfers at once.
struct AccuracyContext {
  std::function<Machine(Measurement const&)> machine;
  // Changes the machine after the measurement's own settings: settings of the command line, or a hypothesis.
  std::function<void(Machine&)> override_machine = [](Machine&) {};
  MakeExecutor executor;
  Catalogue& catalogue;
  // Applied to the machine as its file describes it. Its figures stay even if the measurement withholds them.
  Calibration const* calibration = nullptr;
  // The calibration was fitted to this measurement, so single transfers of the measurement do not test it.
  bool fitted_to_this = false;
  bool ranges = true;     // false: predictions without ranges, which take most of the time
  bool possible = false;  // beside what a library would do with a collective, what could be done
  bool changes = false;   // which sizes of collectives are near a change of the library's algorithm or protocol
};

struct PointResult {
  std::string series;
  MeasuredQuantity quantity = MeasuredQuantity::Bandwidth;
  std::string what;   // "gpu0 > gpu1", "8 at once"
  std::string group;  // mechanism and distance: "pcie_p2p PIX"
  GpuGeneration generation = GpuGeneration::Other;
  AtOnce at_once = AtOnce::One;
  Bytes bytes{0};                   // of the largest flow
  double measured = 0;              // bytes per second, or seconds
  std::optional<double> predicted;  // absent: refused, a figure is unknown, or it cannot be run
  Interval interval;
  std::optional<double> noise;  // by how much the measured figure may be off, either way; absent: not known
  std::string binding;          // what limits the prediction, or why there is none
  std::string library;          // of a collective: "nccl-2.28"
  std::optional<double>
      possible;              // of a collective, where it was asked for: by the best plan, or the library's if better
  bool near_change = false;  // of a collective, where it was asked for: at half or twice the size the library does it
                             // by another algorithm or protocol
  bool legal = true;         // the rules allow the transfer that was measured
  std::string doubtful;      // why it does not count; empty: it counts
  bool fitted = false;       // the calibration was fitted to it, so it does not count
  SourcePos pos;

  // Counts in the summary, which the accuracy test holds to limits.
  [[nodiscard]] bool in_gate() const { return doubtful.empty() && !fitted; }
  // |predicted / measured - 1|; absent without a prediction.
  [[nodiscard]] std::optional<double> error() const;
  // Whether the noise of the measured figure explains the error.
  [[nodiscard]] bool within_noise() const;
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

// Over the points and facts in the gate. Fractions, not percent; absent if there are none.
struct ErrorSummary {
  std::size_t points = 0;
  std::optional<double> median, p95, worst;
};
struct AccuracySummary {
  std::optional<double> legality_agreement;   // of facts, and of points, which the rules must allow
  std::size_t counted = 0;                    // number of those facts and points
  ErrorSummary bandwidth, latency, makespan;  // of transfers
  ErrorSummary collective;                    // bandwidths and times of collectives by libraries
  std::optional<double> interval_coverage;    // of transfers
  std::optional<double> collective_coverage;  // of collectives
  ErrorSummary near_change;                   // of those collectives near a change of algorithm or protocol
  ErrorSummary noise;                         // of the figures whose noise is known: that noise instead of the error
  std::size_t within_noise = 0;               // number of those whose error it explains
  ErrorSummary fitted;                        // points that the calibration was fitted to
  std::size_t left_out = 0;                   // doubtful points and facts
  std::size_t unpredicted = 0;                // points in the gate without a prediction
};

// Predicts every point and checks every fact. Throws InputError if the measurement names something that its machine
// does not have.
MeasurementResult evaluate(Measurement const& measurement, AccuracyContext const& context);
AccuracySummary summarise(std::vector<MeasurementResult> const& results);

// The points of the gate by generation of GPU and number of transfers at once, in their order; none that are empty.
struct AccuracyClass {
  GpuGeneration generation = GpuGeneration::Other;
  AtOnce at_once = AtOnce::One;
  ErrorSummary times;    // of bandwidths and makespans
  ErrorSummary latency;  // of latencies
  double interval_coverage = 0;
};
std::vector<AccuracyClass> accuracy_classes(std::vector<MeasurementResult> const& results);
// The same for all generations together, and for those of which `keep` is true.
AccuracyClass accuracy_of(std::vector<MeasurementResult> const& results, AtOnce at_once,
                          std::function<bool(GpuGeneration)> const& keep);

// `lanewise: accuracy/1`
nlohmann::ordered_json accuracy_json(std::vector<MeasurementResult> const& results);

}  // namespace lanewise
