#include "core/measurement/measuring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "core/measurement/measured_transfer.hpp"
#include "core/measurement/repeated_sample.hpp"
#include "core/measurement/session_noise.hpp"
#include "core/units/statistics.hpp"

namespace lanewise {
namespace {

bool same_transfer(MeasuredPoint const& a, MeasuredPoint const& b) {
  return a.flows == b.flows && a.bytes == b.bytes && a.access == b.access;
}

// Five digits in the unit of the file: more than two runs agree on.
double rounded(double value, double unit) {
  constexpr int kDigits = 5;
  return std::strtod(fmt::format("{:.{}g}", value / unit, kDigits).c_str(), nullptr) * unit;
}

class Measuring {
 public:
  Measuring(Model const& model, Meter& meter, Measurement so_far, MeasuringObserver const& observer)
      : model_(model), planner_(model), meter_(meter), result_(std::move(so_far)), observer_(observer) {}

  Measurement run(std::vector<MeasuredSeries> const& wanted) {
    for (auto const& series : wanted)
      for (auto const& point : series.points) {
        ++progress_.all;
        if (!known(series, point)) expected_left_ += expected(series, point);
      }
    prepare_references(wanted);
    for (auto const& series : wanted) take(series);
    return std::move(result_);
  }

 private:
  [[nodiscard]] MeasuredSeries* find(std::string const& name) {
    auto const found = std::find_if(result_.series.begin(), result_.series.end(),
                                    [&](MeasuredSeries const& series) { return series.name == name; });
    return found == result_.series.end() ? nullptr : &*found;
  }
  [[nodiscard]] bool known(MeasuredSeries const& series, MeasuredPoint const& point) {
    auto const* taken = find(series.name);
    return taken != nullptr && std::any_of(taken->points.begin(), taken->points.end(),
                                           [&](MeasuredPoint const& other) { return same_transfer(point, other); });
  }

  [[nodiscard]] std::vector<Step> steps_of(MeasuredSeries const& series, MeasuredPoint const& point) const {
    std::vector<Step> steps;
    for (auto const& request : requests_of(model_.machine(), series, point)) steps.push_back(step_of(request));
    return steps;
  }
  [[nodiscard]] Step step_of(Request const& request) const {
    auto const choice = planner_.choose(request);
    if (!choice.chosen) throw PlanError(fmt::format("refused by {}", choice.evaluated.front().refused_by->id));
    return {request.id, request.from, request.to, request.bytes, request.op, choice.evaluated[*choice.chosen].way, {}};
  }

  // The predicted time to measure a point once. Every point has the same number of repetitions.
  [[nodiscard]] double expected(MeasuredSeries const& series, MeasuredPoint const& point) const {
    double time = kPerPoint;
    for (auto const& step : steps_of(series, point)) {
      auto const cost = model_.cost(model_.lower(step.from, step.to, step.bytes, step.op, step.way), step.bytes);
      if (cost) time += cost->time.value();
    }
    return time;
  }

  void take(MeasuredSeries const& series) {
    progress_.what = series.name;
    bool measured = false;
    for (auto const& point : series.points) {
      if (!known(series, point)) {
        take(series, point);
        measured = true;
      }
      ++progress_.done;
      observer_.progress(progress_);
    }
    if (measured) take_references();
    observer_.save(result_);
  }

  // ------------------------------------------------------------------------------------------------------- references

  // A transfer that is repeated all along, and what it took.
  struct Reference {
    Step step;
    SessionNoise before;        // of the measurement that this one continues
    std::vector<double> times;  // seconds
  };

  void prepare_references(std::vector<MeasuredSeries> const& wanted) {
    Bytes largest{1};
    for (auto const& series : wanted)
      for (auto const& point : series.points) largest = std::max(largest, point.bytes);
    auto const& machine = model_.machine();
    for (auto const& request : reference_requests(machine, largest)) {
      try {
        Reference reference{
            step_of(request), {{machine.name_of(request.from), machine.name_of(request.to), request.bytes}}, {}};
        for (auto const& noise : result_.noise)
          if (noise.flow == reference.before.flow) reference.before = noise;
        references_.push_back(std::move(reference));
      } catch (PlanError const&) {  // no legal way: nothing is measured between such places, and needs no reference
      }
    }
  }

  // Measures each reference once more, and enters how far its figures have spread so far.
  void take_references() {
    constexpr std::size_t kMinSamples = 3;
    std::vector<SessionNoise> noise;
    for (auto& reference : references_) {
      try {
        reference.times.push_back(meter_.alone(reference.step).time.value());
      } catch (PlanError const&) {  // a driver that refuses this way says so where the way itself is measured
        continue;
      }
      auto entry = reference.before;
      if (reference.times.size() >= kMinSamples)
        entry.spread = std::max(entry.spread, rounded(relative_spread(reference.times), 1));
      entry.samples += static_cast<int>(reference.times.size());
      if (entry.samples >= static_cast<int>(kMinSamples)) noise.push_back(entry);
    }
    if (!noise.empty()) result_.noise = std::move(noise);
  }

  void take(MeasuredSeries const& series, MeasuredPoint const& wanted) {
    auto const began = std::chrono::steady_clock::now();
    try {
      auto const steps = steps_of(series, wanted);
      auto const sample = steps.size() == 1 ? meter_.alone(steps.front()) : meter_.together(steps);
      enter(series, wanted, sample);
    } catch (PlanError const& error) {
      observer_.skipped(fmt::format("{}: {}", series.name, error.what()));
    }
    auto const share = expected(series, wanted);
    taken_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    expected_taken_ += share;
    expected_left_ -= share;
    progress_.left = Seconds(std::max(0.0, expected_left_) * taken_ / expected_taken_);
  }

  void enter(MeasuredSeries const& series, MeasuredPoint const& wanted, Sample const& sample) {
    auto* kept = find(series.name);
    if (kept == nullptr) {
      kept = &result_.series.emplace_back(series);
      kept->points.clear();
    }
    auto point = wanted;
    point.spread = rounded(sample.spread, 1);
    if (sample.noise) point.noise = rounded(*sample.noise, 1);
    if (sample.noise.value_or(0) > kMaxNoise)
      observer_.noisy(fmt::format("{}: {} > {}, {}: +-{:.1f} % after {} repetitions", series.name, wanted.flows[0].from,
                                  wanted.flows[0].to, exact_text(wanted.bytes), *sample.noise * 100,
                                  sample.repetitions));
    Bytes all{0};
    for (auto const& flow : point.flows) all += point.bytes_of(flow);
    point.value = series.quantity == MeasuredQuantity::Bandwidth ? rounded((all / sample.time).value(), 1e9)
                                                                 : rounded(sample.time.value(), 1e-6);
    kept->points.push_back(std::move(point));
  }

  static constexpr double kPerPoint =
      2e-3;  // s: roughly the time to make and check buffers; only used to estimate the time left

  Model const& model_;
  Planner planner_;
  Meter& meter_;
  Measurement result_;
  MeasuringObserver const& observer_;
  MeasuringProgress progress_;
  std::vector<Reference> references_;
  double expected_left_ = 0, expected_taken_ = 0, taken_ = 0;  // s
};

}  // namespace

Measurement measure(Model const& model, Meter& meter, std::vector<MeasuredSeries> const& series, Measurement so_far,
                    MeasuringObserver const& observer) {
  return Measuring(model, meter, std::move(so_far), observer).run(series);
}

}  // namespace lanewise
