#include "core/verdict/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/io/json.hpp"
#include "core/units/statistics.hpp"
#include "core/verdict/timing_exclusion.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

std::optional<double> larger(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::max(a, b) : (a ? a : b);
}

// The keys `PREFIXspread`, and `PREFIXwithin_noise`: whether the noise explains the difference.
void add_noise(nlohmann::ordered_json& json, StepComparison const& step, std::string const& prefix) {
  if (step.spread) json[prefix + "spread"] = *step.spread;
  if (auto const within = step.within_noise()) json[prefix + "within_noise"] = *within;
}

}  // namespace

double Comparison::median_error() const {
  if (steps.empty()) return 0;
  std::vector<double> errors;
  for (auto const& step : steps) errors.push_back(std::abs(step.error()));
  return median(std::move(errors));
}

std::optional<bool> StepComparison::within_noise() const {
  if (!first_noise && !second_noise) return std::nullopt;
  auto const one = first_noise.value_or(TimeRange{first, first});
  auto const other = second_noise.value_or(TimeRange{second, second});
  return one.low <= other.high && other.low <= one.high;
}

Comparison compare(Trace const& first, Trace const& second) {
  if (first.steps.size() != second.steps.size())
    throw InputError(
        fmt::format("the traces are of different plans: {} steps against {}", first.steps.size(), second.steps.size()));
  Comparison comparison{first.mode, second.mode, first.machine, {}, {}, {}};
  comparison.makespan = {
      "makespan", first.makespan, second.makespan, {}, first.noise, second.noise, larger(first.spread, second.spread)};
  if (first.machine != second.machine)
    comparison.warnings.push_back(fmt::format("the machines differ: '{}' against '{}'", first.machine, second.machine));
  else if (first.fingerprint != second.fingerprint)
    comparison.warnings.emplace_back("the machine's description or settings differ between the two");
  for (auto const* trace : {&first, &second})
    if (auto const why = timing_exclusion(*trace); !why.empty())
      comparison.warnings.push_back(fmt::format("times are not those of the machine described: {}", why));
  for (std::size_t i = 0; i < first.steps.size(); ++i) {
    auto const& a = first.steps[i];
    auto const& b = second.steps[i];
    if (a.transfer != b.transfer || a.bytes != b.bytes)
      throw InputError(fmt::format("the traces are of different plans: step {} is '{}' of {} against '{}' of {}", i,
                                   a.transfer, exact_text(a.bytes), b.transfer, exact_text(b.bytes)));
    comparison.steps.push_back(
        {a.transfer, a.duration(), b.duration(), b.verified, a.noise, b.noise, larger(a.spread, b.spread)});
  }
  return comparison;
}

nlohmann::ordered_json comparison_json(Comparison const& comparison) {
  nlohmann::ordered_json json{
      {"lanewise", "comparison/1"},
      {"machine", comparison.machine},
      {"modes", {comparison.first_mode, comparison.second_mode}},
      {"median_error", comparison.median_error()},
      {"makespan_us", {microseconds(comparison.makespan.first), microseconds(comparison.makespan.second)}}};
  add_noise(json, comparison.makespan, "makespan_");
  json["warnings"] = comparison.warnings;
  json["steps"] = nlohmann::ordered_json::array();
  for (auto const& step : comparison.steps) {
    nlohmann::ordered_json item{{"transfer", step.transfer},
                                {"first_us", microseconds(step.first)},
                                {"second_us", microseconds(step.second)},
                                {"error", step.error()}};
    add_noise(item, step, "");
    item["verified"] = step.verified ? nlohmann::ordered_json(*step.verified) : nlohmann::ordered_json(nullptr);
    json["steps"].push_back(std::move(item));
  }
  return json;
}

}  // namespace lanewise
