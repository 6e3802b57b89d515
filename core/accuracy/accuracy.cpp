#include "core/accuracy/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/accuracy/fact_evaluator.hpp"
#include "core/accuracy/model_pool.hpp"
#include "core/accuracy/point_evaluator.hpp"
#include "core/calibration/observations.hpp"
#include "core/units/statistics.hpp"

namespace lanewise {
namespace {

void add_noise(PointResult const& point, std::vector<double>& noise, AccuracySummary& summary) {
  if (!point.in_gate() || !point.predicted || !point.noise) return;
  noise.push_back(*point.noise);
  summary.within_noise += point.within_noise() ? 1 : 0;
}

std::vector<double> errors_near_change(std::vector<MeasurementResult> const& results) {
  std::vector<double> errors;
  for (auto const& result : results)
    for (auto const& point : result.points)
      if (auto const error = point.error(); point.near_change && point.in_gate() && error) errors.push_back(*error);
  return errors;
}

ErrorSummary summary_of(std::vector<double> const& errors) {
  if (errors.empty()) return {};
  return {errors.size(), median(errors), quantile(errors, 0.95), quantile(errors, 1)};
}

}  // namespace

bool PointResult::within_noise() const {
  auto const off = error();
  return off && noise && *off <= *noise;
}

std::optional<double> PointResult::error() const {
  if (!predicted) return std::nullopt;
  return std::abs(*predicted / measured - 1);
}

MeasurementResult evaluate(Measurement const& measurement, AccuracyContext const& context) {
  MeasurementResult result{measurement.name,
                           measurement.title,
                           measurement.machine,
                           measurement.source,
                           measurement.grade,
                           measurement.date,
                           measurement.method,
                           measurement.doubtful,
                           {},
                           {}};
  ModelPool pool(measurement, context);
  for (auto const& series : measurement.series) {
    auto& entry = pool.with(series.settings, series.pos);
    for (auto const& point : series.points) {
      result.points.push_back(evaluate_point(pool, entry, series, point));
      result.points.back().doubtful = measurement.doubtful.empty() ? series.doubtful : measurement.doubtful;
      result.points.back().fitted = context.fitted_to_this && serves_fit(point);
    }
  }
  for (auto const& fact : measurement.facts) {
    result.facts.push_back(evaluate_fact(pool.with(fact.settings, fact.pos), fact));
    result.facts.back().doubtful = measurement.doubtful.empty() ? fact.doubtful : measurement.doubtful;
  }
  return result;
}

AccuracyClass accuracy_of(std::vector<MeasurementResult> const& results, AtOnce at_once,
                          std::function<bool(GpuGeneration)> const& keep) {
  std::vector<double> times;
  std::vector<double> latencies;
  std::size_t covered = 0;
  for (auto const& result : results)
    for (auto const& point : result.points) {
      auto const error = point.error();
      if (!error || !point.in_gate() || point.at_once != at_once || !keep(point.generation)) continue;
      (point.quantity == MeasuredQuantity::Latency ? latencies : times).push_back(*error);
      covered += point.interval.holds(point.measured) ? 1 : 0;
    }
  AccuracyClass found{GpuGeneration::Other, at_once, summary_of(times), summary_of(latencies)};
  auto const count = times.size() + latencies.size();
  if (count > 0) found.interval_coverage = static_cast<double>(covered) / static_cast<double>(count);
  return found;
}

std::vector<AccuracyClass> accuracy_classes(std::vector<MeasurementResult> const& results) {
  std::vector<AccuracyClass> classes;
  for (auto const generation : {GpuGeneration::BeforeAmpere, GpuGeneration::Ampere, GpuGeneration::Hopper,
                                GpuGeneration::Blackwell, GpuGeneration::Amd, GpuGeneration::Other})
    for (auto const at_once : kEachAtOnce) {
      auto found = accuracy_of(results, at_once, [&](GpuGeneration of) { return of == generation; });
      found.generation = generation;
      if (found.times.points + found.latency.points > 0) classes.push_back(found);
    }
  return classes;
}

AccuracySummary summarise(std::vector<MeasurementResult> const& results) {
  AccuracySummary summary;
  std::map<MeasuredQuantity, std::vector<double>> errors;
  std::vector<double> fitted;
  std::vector<double> noise;
  std::size_t agreed = 0;
  std::size_t covered = 0;
  auto const count = [&](auto const& entry, bool as_measured) {
    if (!entry.in_gate()) {
      ++summary.left_out;
      return false;
    }
    ++summary.counted;
    agreed += as_measured ? 1 : 0;
    return true;
  };
  for (auto const& result : results) {
    for (auto const& fact : result.facts) count(fact, fact.agrees);
    for (auto const& point : result.points) {
      if (point.fitted && point.doubtful.empty()) {
        if (auto const error = point.error()) fitted.push_back(*error);
        continue;
      }
      if (!count(point, point.legal)) continue;
      auto const error = point.error();
      if (!error) {
        ++summary.unpredicted;
        continue;
      }
      if (point.at_once == AtOnce::Collective) continue;  // they have a summary of their own
      errors[point.quantity].push_back(*error);
      covered += point.interval.holds(point.measured) ? 1 : 0;
    }
  }
  summary.bandwidth = summary_of(errors[MeasuredQuantity::Bandwidth]);
  summary.latency = summary_of(errors[MeasuredQuantity::Latency]);
  summary.makespan = summary_of(errors[MeasuredQuantity::Makespan]);
  auto const collectives = accuracy_of(results, AtOnce::Collective, [](GpuGeneration) { return true; });
  summary.collective = collectives.times;
  if (collectives.times.points > 0) summary.collective_coverage = collectives.interval_coverage;
  for (auto const& result : results)
    for (auto const& point : result.points) add_noise(point, noise, summary);
  summary.near_change = summary_of(errors_near_change(results));
  summary.noise = summary_of(noise);
  summary.fitted = summary_of(fitted);
  auto const predicted = summary.bandwidth.points + summary.latency.points + summary.makespan.points;
  if (summary.counted > 0)
    summary.legality_agreement = static_cast<double>(agreed) / static_cast<double>(summary.counted);
  if (predicted > 0) summary.interval_coverage = static_cast<double>(covered) / static_cast<double>(predicted);
  return summary;
}

}  // namespace lanewise
