#pragma once
// Grades a machine's measured figures against the model's predictions, and names the likely causes of slow ones.
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/accuracy/accuracy.hpp"
#include "core/diagnosis/hypothesis.hpp"

namespace lanewise {

// Pass: inside the 90 % range, or within 10 % of the prediction.
// Fail: slower than the slow end of the range by the same factor as that end is slower than the prediction. One healthy
//   figure in 2,000 would fail if errors were distributed as the range says. It fails only if it is slower than that
//   beyond the noise of its repetitions.
// Warn: between the two, faster than the range, slower than figures with the same prediction, or without a prediction.
enum class Grade : std::uint8_t { Pass, Warn, Fail };
std::string_view to_string(Grade grade);  // pass, warn, fail

struct GradedPoint {
  PointResult result;
  Grade grade = Grade::Pass;
  double speed = 0;                  // measured / predicted speed: 0.5 is half as fast; 0 without a prediction
  std::string remark;                // why it warns, or passes though it is slow; empty: because of its speed
  std::optional<std::size_t> cause;  // into Diagnosis::causes
};

struct GradedFact {
  FactResult result;
  Grade grade = Grade::Pass;
};

struct Cause {
  Hypothesis what;
  std::vector<Hypothesis> also;  // hypotheses that explain the figures equally well
  std::size_t explained = 0;     // number of points
  std::size_t refusals = 0;      // number of facts: missing peer access
};

struct Diagnosis {
  std::string measurement;
  std::string machine;
  std::vector<GradedPoint> points;  // those that count
  std::vector<GradedFact> facts;
  std::vector<Cause> causes;                    // sorted by how much they explain, most first
  std::map<std::string, std::size_t> left_out;  // doubtful figures, by why

  [[nodiscard]] Grade worst() const;
  [[nodiscard]] std::size_t count(Grade grade) const;  // of points and facts
  [[nodiscard]] std::size_t left_out_count() const;    // those left out
  [[nodiscard]] std::size_t slow() const;              // points that warn or fail for being slow
};

// Throws as evaluate().
Diagnosis diagnose(Measurement const& measurement, AccuracyContext const& context);

// `lanewise: judgement/1`
nlohmann::ordered_json diagnosis_json(Diagnosis const& diagnosis);

}  // namespace lanewise
