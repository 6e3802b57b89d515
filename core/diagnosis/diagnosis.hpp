#pragma once
// A machine's figures, each passed or not by the model, and what is most likely the matter with those that are not.
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/accuracy/accuracy.hpp"
#include "core/diagnosis/hypothesis.hpp"

namespace lanewise {

// Pass: inside the 90 % range, or within 10 % of the prediction. Fail: slower than the range's slow end by as much
// again as that end is slower than the prediction; were errors spread as the range says, one healthy figure in 2,000
// would be. Warn: between, faster than the range, slower than figures that are predicted alike, or without a
// prediction.
enum class Grade : std::uint8_t { Pass, Warn, Fail };
std::string_view to_string(Grade grade);  // pass, warn, fail

struct GradedPoint {
  PointResult result;
  Grade grade = Grade::Pass;
  double speed = 0;                  // measured against predicted: 0.5 is half as fast; 0 without a prediction
  std::string remark;                // why it warns; empty: its speed says so
  std::optional<std::size_t> cause;  // into Diagnosis::causes
};

struct GradedFact {
  FactResult result;
  Grade grade = Grade::Pass;
};

struct Cause {
  Hypothesis what;
  std::vector<Hypothesis> also;  // explain the figures as well
  std::size_t explained = 0;     // points
  std::size_t refusals = 0;      // facts: peer access that is not there
};

struct Diagnosis {
  std::string measurement;
  std::string machine;
  std::vector<GradedPoint> points;  // those in the gate
  std::vector<GradedFact> facts;
  std::vector<Cause> causes;  // the one that explains most first
  std::size_t left_out = 0;   // doubtful figures

  [[nodiscard]] Grade worst() const;
  [[nodiscard]] std::size_t count(Grade grade) const;  // of points and facts
  [[nodiscard]] std::size_t slow() const;              // points that warn or fail for being slow
};

Diagnosis diagnose(Measurement const& measurement, AccuracyContext const& world);

// `lanewise: judgement/1`
nlohmann::ordered_json diagnosis_json(Diagnosis const& diagnosis);

}  // namespace lanewise
