#pragma once
// Two traces of the same plan, step by step: predicted against measured.
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/trace.hpp"

namespace lanewise {

struct StepComparison {
  std::string transfer;
  Seconds first{0};
  Seconds second{0};
  std::optional<bool> verified;  // of the second
  // How far the first is off the second: 0.05 is 5 % too long.
  [[nodiscard]] double error() const { return first / second - 1; }
};

struct Comparison {
  std::string first_mode, second_mode;
  std::string machine;
  std::vector<StepComparison> steps;
  Seconds first_makespan{0};
  Seconds second_makespan{0};
  std::vector<std::string> warnings;          // other machine, other settings
  [[nodiscard]] double median_error() const;  // of absolute errors
};

// Throws InputError when the traces are not of the same transfers.
Comparison compare(Trace const& first, Trace const& second);
// `lanewise: comparison/1`
nlohmann::ordered_json comparison_json(Comparison const& comparison);

}  // namespace lanewise
