#include "core/calibration/part_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/calibration/robust_fit.hpp"
#include "core/units/statistics.hpp"

namespace lanewise {
namespace {

// The ranges of parameters hold nine machines out of ten: 1.645 standard deviations. This machine may be the tenth, so
// the priors are twice as wide.
constexpr double kRangeDeviations = 1.645;
constexpr double kTrustInRanges = 0.5;
// A figure is identified if nine tenths of the information on it come from the data: its interval is then a third of
// the prior's.
constexpr double kIdentified = 0.9;
constexpr double kIntervalDeviations = 1.96;      // standard deviations: 95 % of a normal distribution
constexpr double kMinDeviationOfFigure = 0.0005;  // no figure is known better than this
// A datum depends on a figure if a change of 1 % of the figure changes it by at least this many percent.
constexpr double kMinSensitivity = 0.05;
constexpr double kNoEffect = 0.005;
// Correlation from which the data cannot separate two figures.
constexpr double kCorrelated = 0.5;
// A device differs from the others with its part if the median of the data that depend mainly on it does so by this
// fraction, and by this many standard deviations.
constexpr double kMinDifference = 0.015;
constexpr double kMinDeviations = 4;
constexpr double kMainSensitivity = 0.3;
constexpr std::size_t kMinPoints = 3;
constexpr int kMaxOwnFigures = 32;

double usual_width(Parameter parameter) {
  auto const& range = parameter_ranges()[static_cast<std::size_t>(parameter)];
  return std::max(-std::log(range.low), std::log(range.high)) / kRangeDeviations / kTrustInRanges;
}

// A limit that transfers share is measured on few machines, so its own may well be half or twice as much.
double const kWidthOfShared = std::log(2.0) / kRangeDeviations;

std::vector<double> exponentials(std::vector<double> logs) {
  for (auto& value : logs) value = std::exp(value);
  return logs;
}

// Fits figures of one machine to one set of observations.
class PartFit {
 public:
  PartFit(Observations const& observations, Machine const& machine, std::vector<CalibrationTarget> targets)
      : observations_(observations), machine_(machine) {
    for (auto& target : targets) add(std::move(target), std::nullopt);
    for (auto const& observation : observations.all()) {
      auto const spread = observation.point->spread.value_or(0) / (2 * kRangeDeviations);  // p95 - p5
      problem_.data.push_back({std::log(observation.point->value), spread, observation.cluster});
      drifts_.push_back(std::log1p(observations.drift(observation)) / kRangeDeviations);
    }
    problem_.predict = [this](std::vector<double> const& logs) {
      return observations_.predictions(targets_, exponentials(logs));
    };
  }

  // Fits, then gives its own figure to one device after another that differs from the others with its part.
  void run() {
    result_ = robust_fit(problem_);
    for (int i = 0; i < kMaxOwnFigures; ++i) {
      auto const outlier = find_outlier();
      if (!outlier) return;
      auto from = result_.at;
      from.push_back(outlier->value);
      add(outlier->target, outlier->start);
      result_ = robust_fit(problem_, std::move(from));
    }
  }

  [[nodiscard]] FittedParts fitted_parts() const {
    FittedParts parts;
    for (std::size_t p = 0; p < targets_.size(); ++p) {
      auto const partners = partners_of(p);
      bool const known = result_.known[p] >= kIdentified;
      if (!known) {
        auto const& target = targets_[p];
        parts.unidentified.push_back(
            {target.at.empty() ? target.part : "", target.at, std::string(target.figure->key), reason(p, partners)});
      }
      if (known || !partners.empty()) parts.figures.push_back(fitted(p, known ? std::vector<std::string>{} : partners));
    }
    parts.weights = result_.weights;
    return parts;
  }

 private:
  void add(CalibrationTarget target, std::optional<double> start) {
    auto const log_start = start ? *start : std::log(*target.value(machine_));
    auto const usual = usual_width(target.figure->parameter);
    auto const width = target.figure->shared ? std::max(usual, kWidthOfShared) : usual;
    problem_.parameters.push_back({log_start, width, std::log(target.figure->upper_limit)});
    targets_.push_back(std::move(target));
  }

  [[nodiscard]] double largest_effect(std::size_t p) const {
    double most = 0;
    for (auto const effect : result_.effects[p]) most = std::max(most, std::abs(effect));
    return most;
  }

  // The standard deviation that drift of the machine adds to a figure: its data moved together, so their number does
  // not average it out. What least squares make of it for this figure alone.
  [[nodiscard]] double drift_of(std::size_t p) const {
    if (largest_effect(p) < kMinSensitivity) return 0;
    double moved = 0;
    double information = 0;
    for (std::size_t i = 0; i < drifts_.size(); ++i) {
      auto const effect = std::abs(result_.effects[p][i]);
      moved += result_.weights[i] * effect * drifts_[i];
      information += result_.weights[i] * effect * effect;
    }
    return information > 0 ? moved / information : 0;
  }

  [[nodiscard]] int points_of(std::size_t p) const {
    int count = 0;
    for (std::size_t i = 0; i < result_.weights.size(); ++i)
      count += std::abs(result_.effects[p][i]) >= kMinSensitivity && result_.weights[i] > 0 ? 1 : 0;
    return count;
  }

  // The figures that the data cannot separate from this one, the most correlated first.
  [[nodiscard]] std::vector<std::string> partners_of(std::size_t p) const {
    std::vector<std::pair<double, std::size_t>> found;
    if (points_of(p) == 0) return {};
    for (std::size_t q = 0; q < targets_.size(); ++q) {
      auto const& c = result_.covariance;
      auto const correlation = std::abs(c(p, q)) / std::sqrt(c(p, p) * c(q, q));
      if (q != p && correlation >= kCorrelated) found.emplace_back(-correlation, q);
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> names;
    for (auto const& [unused, q] : found) names.push_back(targets_[q].text());
    return names;
  }

  [[nodiscard]] std::string reason(std::size_t p, std::vector<std::string> const& partners) const {
    if (largest_effect(p) < kNoEffect) return "no measured figure hangs on it";
    if (!partners.empty())
      return fmt::format("it cannot be told from {}: only what they do together is measured",
                         fmt::join(partners, " and "));
    return "too little of what was measured hangs on it";
  }

  [[nodiscard]] FittedFigure fitted(std::size_t p, std::vector<std::string> partners) const {
    auto const& target = targets_[p];
    auto const unit = target.figure->unit;
    auto const deviation = std::hypot(std::max(kMinDeviationOfFigure, result_.deviation[p]), drift_of(p));
    auto const off = kIntervalDeviations * deviation;
    auto const number = [&](double log) { return rounded_to_file_digits(std::exp(log)); };
    CalibratedValue const value{.part = target.at.empty() ? target.part : "",
                                .at = target.at,
                                .key = std::string(target.figure->key),
                                .value = number(result_.at[p]),
                                .low = number(result_.at[p] - off),
                                .high = number(std::min(result_.at[p] + off, std::log(target.figure->upper_limit))),
                                .points = points_of(p),
                                .together_with = std::move(partners)};
    return {target, unit, *target.value(machine_), value};
  }

  // A figure of one device, estimated from the data that depend mainly on it.
  struct OwnFigure {
    CalibrationTarget own;
    double middle = 0;  // median distance from the part's value, as a logarithm
    double spread = 0;  // standard deviation of that
  };
  struct Outlier {
    CalibrationTarget target;
    double value;       // logarithm of its own figure
    double start;       // logarithm of the prior
    double deviations;  // by which it differs
  };

  // The device that most significantly differs from the others with its part; nullopt if none does. An error of the
  // model that is common to all of them makes none of them an outlier.
  [[nodiscard]] std::optional<Outlier> find_outlier() const {
    std::optional<Outlier> best;
    for (std::size_t p = 0; p < problem_.parameters.size(); ++p) {
      if (!targets_[p].at.empty() || largest_effect(p) < kMainSensitivity / 2) continue;
      auto const own_figures = own_figures_of(p);
      for (std::size_t i = 0; i < own_figures.size(); ++i) {
        std::vector<double> others;
        for (std::size_t k = 0; k < own_figures.size(); ++k)
          if (k != i) others.push_back(own_figures[k].middle);
        if (others.empty()) continue;
        auto const off = std::abs(own_figures[i].middle - median(std::move(others)));
        auto const deviations = off / own_figures[i].spread;
        // Of two devices that differ, the outlier is the one further from the part's value.
        bool const further = std::abs(own_figures[i].middle) >= off / 2;
        if (off < kMinDifference || deviations < kMinDeviations || !further) continue;
        if (best && best->deviations >= deviations) continue;
        auto const& parameter = problem_.parameters[p];
        best = {own_figures[i].own, std::min(result_.at[p] + own_figures[i].middle, parameter.upper_limit),
                parameter.start, deviations};
      }
    }
    return best;
  }

  // The devices with this figure's part that have enough data and no own figure yet.
  [[nodiscard]] std::vector<OwnFigure> own_figures_of(std::size_t p) const {
    std::vector<OwnFigure> found;
    auto const& target = targets_[p];
    auto const names = places_of_part(machine_, target.part);
    if (names.size() < 2) return found;
    for (auto const& name : names) {
      CalibrationTarget const own{target.figure, target.part, name};
      if (std::find(targets_.begin(), targets_.end(), own) != targets_.end()) continue;
      auto offsets = offsets_of(p, own);
      if (offsets.size() < kMinPoints) continue;
      auto const count = static_cast<double>(offsets.size());
      OwnFigure figure{own, median(offsets), 0};
      for (auto& offset : offsets) offset = std::abs(offset - figure.middle);
      figure.spread = std::max(kDeviationOfMedian * median(std::move(offsets)), result_.scale) / std::sqrt(count);
      found.push_back(std::move(figure));
    }
    return found;
  }

  // By how much each datum that depends mainly on a device's figure would change it.
  [[nodiscard]] std::vector<double> offsets_of(std::size_t p, CalibrationTarget const& own) const {
    constexpr double kStep = 0.01;
    auto targets = targets_;
    targets.push_back(own);
    auto values = exponentials(result_.at);
    auto const above = std::min(result_.at[p] + kStep, problem_.parameters[p].upper_limit);
    values.push_back(std::exp(above));
    auto const high = observations_.predictions(targets, values);
    values.back() = std::exp(result_.at[p] - kStep);
    auto const low = observations_.predictions(targets, values);
    std::vector<double> offsets;
    for (std::size_t i = 0; i < high.size(); ++i) {
      auto const effect = (high[i] - low[i]) / (above - result_.at[p] + kStep);
      if (std::abs(effect) >= kMainSensitivity) offsets.push_back(result_.residuals[i] / effect);
    }
    return offsets;
  }

  Observations const& observations_;
  Machine const& machine_;
  std::vector<CalibrationTarget> targets_;
  FitProblem problem_;
  std::vector<double> drifts_;  // standard deviation of each datum's logarithm that all data of its kind share
  FitResult result_;
};

}  // namespace

FittedParts fit_parts(Observations const& observations, Machine const& machine,
                      std::vector<CalibrationTarget> targets) {
  PartFit fit(observations, machine, std::move(targets));
  fit.run();
  return fit.fitted_parts();
}

void add_figures(FittedParts const& parts, CalibrationOutcome& outcome) {
  auto& unidentified = outcome.overlay.unidentified;
  unidentified.insert(unidentified.end(), parts.unidentified.begin(), parts.unidentified.end());
  outcome.figures.insert(outcome.figures.end(), parts.figures.begin(), parts.figures.end());
}

FitError error_of(Observations const& observations, std::vector<double> const& predictions) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < predictions.size(); ++i)
    errors.push_back(std::abs(std::exp(predictions[i]) / observations.all()[i].point->value - 1));
  if (errors.empty()) return {};
  return {errors.size(), quantile(errors, 0.5), quantile(errors, 0.95)};
}

std::pair<std::vector<CalibrationTarget>, std::vector<double>> targets_and_values(
    std::vector<FittedFigure> const& figures) {
  std::pair<std::vector<CalibrationTarget>, std::vector<double>> made;
  for (bool const of_one : {false, true}) {
    for (auto const& figure : figures) {
      if (figure.target.at.empty() == of_one) continue;
      made.first.push_back(figure.target);
      made.second.push_back(figure.fitted.value);
    }
  }
  return made;
}

}  // namespace lanewise
