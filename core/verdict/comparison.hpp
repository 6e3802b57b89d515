#pragma once
// Compares two traces of the same plan step by step, such as predicted and measured.
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lanewise/plan/trace.hpp"

namespace lanewise {

struct StepComparison {
  std::string transfer;
  Seconds first{0};
  Seconds second{0};
  std::optional<bool> verified;  // in the second trace
  std::optional<TimeRange> first_noise = {}, second_noise = {};
  std::optional<double> spread = {};  // of the repetitions, the larger of the two
  // Relative error of the first: 0.05 if it is 5 % longer than the second.
  [[nodiscard]] double error() const { return first / second - 1; }
  // Whether the noise of what was measured explains the difference. Absent: no noise is known.
  [[nodiscard]] std::optional<bool> within_noise() const;
};

struct Comparison {
  std::string first_mode, second_mode;
  std::string machine;
  std::vector<StepComparison> steps;
  StepComparison makespan;                    // the whole plan's; `transfer` is "makespan"
  std::vector<std::string> warnings;          // different machine or settings
  [[nodiscard]] double median_error() const;  // of the absolute errors of the steps
};

// Throws InputError if the traces are not of the same transfers.
Comparison compare(Trace const& first, Trace const& second);
// `lanewise: comparison/1`
nlohmann::ordered_json comparison_json(Comparison const& comparison);

}  // namespace lanewise
