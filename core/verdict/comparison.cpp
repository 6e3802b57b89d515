#include "core/verdict/comparison.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/io/error.hpp"
#include "core/io/json.hpp"
#include "core/units/statistics.hpp"
#include "core/units/text.hpp"

namespace lanewise {

double Comparison::median_error() const {
  if (steps.empty()) return 0;
  std::vector<double> errors;
  for (auto const& step : steps) errors.push_back(std::abs(step.error()));
  return median(std::move(errors));
}

Comparison compare(Trace const& first, Trace const& second) {
  if (first.steps.size() != second.steps.size())
    throw InputError(
        fmt::format("the traces are of different plans: {} steps against {}", first.steps.size(), second.steps.size()));
  Comparison comparison{first.mode, second.mode, first.machine, {}, first.makespan, second.makespan, {}};
  if (first.machine != second.machine)
    comparison.warnings.push_back(fmt::format("the machines differ: '{}' against '{}'", first.machine, second.machine));
  else if (first.fingerprint != second.fingerprint)
    comparison.warnings.emplace_back("the machine's description or settings differ between the two");
  for (std::size_t i = 0; i < first.steps.size(); ++i) {
    auto const& a = first.steps[i];
    auto const& b = second.steps[i];
    if (a.transfer != b.transfer || a.bytes != b.bytes)
      throw InputError(fmt::format("the traces are of different plans: step {} is '{}' of {} against '{}' of {}", i,
                                   a.transfer, exact_text(a.bytes), b.transfer, exact_text(b.bytes)));
    comparison.steps.push_back({a.transfer, a.duration(), b.duration(), b.verified});
  }
  return comparison;
}

nlohmann::ordered_json comparison_json(Comparison const& comparison) {
  nlohmann::ordered_json json{
      {"lanewise", "comparison/1"},
      {"machine", comparison.machine},
      {"modes", {comparison.first_mode, comparison.second_mode}},
      {"median_error", comparison.median_error()},
      {"makespan_us", {microseconds(comparison.first_makespan), microseconds(comparison.second_makespan)}},
      {"warnings", comparison.warnings}};
  json["steps"] = nlohmann::ordered_json::array();
  for (auto const& step : comparison.steps) {
    nlohmann::ordered_json item{{"transfer", step.transfer},
                                {"first_us", microseconds(step.first)},
                                {"second_us", microseconds(step.second)},
                                {"error", step.error()}};
    item["verified"] = step.verified ? nlohmann::ordered_json(*step.verified) : nlohmann::ordered_json(nullptr);
    json["steps"].push_back(std::move(item));
  }
  return json;
}

}  // namespace lanewise
