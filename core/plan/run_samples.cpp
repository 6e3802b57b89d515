#include "core/plan/run_samples.hpp"

#include "core/io/json.hpp"
#include "core/units/statistics.hpp"
#include "lanewise/units/rank_statistics.hpp"

namespace lanewise {
namespace {

constexpr double kErrorLevel = 0.05;

}  // namespace

std::optional<TimeRange> noise_of(std::vector<double> const& seconds) {
  auto const interval = median_interval(seconds, kErrorLevel);
  if (!interval.is_bounded()) return std::nullopt;
  return TimeRange{through_json(Seconds(interval.low)), through_json(Seconds(interval.high))};
}

void RunSamples::add(RunTimes const& times) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    auto const& [start, end] = times.steps[i];
    steps_[i].starts.push_back(start.value());
    steps_[i].durations.push_back((end - start).value());
  }
  makespans_.push_back(times.makespan.value());
}

void RunSamples::add_mismatches(std::vector<std::string> const& by_step) {
  for (std::size_t i = 0; i < mismatches_.size(); ++i)
    if (mismatches_[i].empty()) mismatches_[i] = by_step[i];
}

void RunSamples::summarise(Trace& trace) const {
  trace.makespan = through_json(Seconds(median(makespans_)));
  trace.spread = relative_spread(makespans_);
  trace.noise = noise_of(makespans_);
  trace.steps.clear();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    auto& step = trace.steps.emplace_back();
    step.transfer = plan_.steps[i].transfer;
    step.bytes = plan_.steps[i].bytes;
    step.start = through_json(Seconds(median(steps_[i].starts)));
    step.end = step.start + through_json(Seconds(median(steps_[i].durations)));
    step.verified = mismatches_[i].empty();
    step.spread = relative_spread(steps_[i].durations);
    step.noise = noise_of(steps_[i].durations);
    step.mismatch = mismatches_[i];
  }
}

}  // namespace lanewise
