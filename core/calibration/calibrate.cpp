#include "core/calibration/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/calibration/robust_fit.hpp"
#include "core/io/error.hpp"
#include "core/machine/fingerprint.hpp"
#include "core/plan/plan.hpp"
#include "core/units/statistics.hpp"

namespace lanewise {
namespace {

// The usual ranges hold nine machines out of ten: 1.645 standard deviations. This machine may be the tenth, so they
// count half.
constexpr double kRangeDeviations = 1.645;
constexpr double kTrustInRanges = 0.5;
// A figure is known when the data say nine tenths of what is known of it: its interval is a third of the usual range.
constexpr double kKnown = 0.9;
// 95 % of a normal distribution, and the digits that a figure is worth at best.
constexpr double kInterval = 1.96;
constexpr double kFinestDeviation = 0.0005;
// A datum hangs on a figure when a percent of the one is at least a twentieth of a percent of the other.
constexpr double kHangs = 0.05;
constexpr double kNoEffect = 0.005;
// Two figures make up for one another's errors from this correlation on.
constexpr double kCorrelated = 0.5;
// One thing differs from the others of its part when the median of what hangs on it says so by this much, and by so
// many standard deviations.
constexpr double kDiffers = 0.015;
constexpr double kSureDeviations = 4;
constexpr double kMostlyIts = 0.3;
constexpr std::size_t kFewestPoints = 3;
constexpr int kMaxOwn = 32;

double usual_width(Parameter parameter) {
  auto const& range = parameter_ranges()[static_cast<std::size_t>(parameter)];
  return std::max(-std::log(range.low), std::log(range.high)) / kRangeDeviations / kTrustInRanges;
}

std::vector<double> exponentials(std::vector<double> logs) {
  for (auto& value : logs) value = std::exp(value);
  return logs;
}

// Figures of one machine fitted to one set of observations.
class PartFit {
 public:
  PartFit(Observations const& observations, Machine const& machine, std::vector<CalibrationTarget> targets)
      : observations_(observations), machine_(machine) {
    for (auto& target : targets) add(std::move(target), std::nullopt);
    for (auto const& observation : observations.all()) {
      auto const spread = observation.point->spread.value_or(0) / (2 * kRangeDeviations);  // p95 - p5
      problem_.data.push_back({std::log(observation.point->value), spread, observation.cluster});
    }
    problem_.predict = [this](std::vector<double> const& logs) {
      return observations_.predictions(targets_, exponentials(logs));
    };
  }

  // Fits, then gives a figure of its own to one thing after another that differs from the others of its part.
  void run() {
    result_ = robust_fit(problem_);
    for (int i = 0; i < kMaxOwn; ++i) {
      auto const odd = odd_one();
      if (!odd) return;
      auto from = result_.at;
      from.push_back(odd->value);
      add(odd->target, odd->start);
      result_ = robust_fit(problem_, std::move(from));
    }
  }

  [[nodiscard]] std::vector<CalibrationTarget> const& targets() const { return targets_; }
  [[nodiscard]] FitResult const& result() const { return result_; }

  // What the data say of each figure, put into the overlay.
  void report(CalibrationOutcome& outcome) const {
    for (std::size_t p = 0; p < targets_.size(); ++p) {
      auto const partners = partners_of(p);
      bool const known = result_.known[p] >= kKnown;
      if (!known) {
        auto const& target = targets_[p];
        outcome.overlay.unidentified.push_back(
            {target.at.empty() ? target.part : "", target.at, std::string(target.figure->key), reason(p, partners)});
      }
      if (known || !partners.empty())
        outcome.figures.push_back(fitted(p, known ? std::vector<std::string>{} : partners));
    }
  }

 private:
  void add(CalibrationTarget target, std::optional<double> start) {
    auto const log_start = start ? *start : std::log(*target.value(machine_));
    problem_.parameters.push_back(
        {log_start, usual_width(target.figure->parameter), std::log(target.figure->upper_limit)});
    targets_.push_back(std::move(target));
  }

  [[nodiscard]] double largest_effect(std::size_t p) const {
    double most = 0;
    for (auto const effect : result_.effects[p]) most = std::max(most, std::abs(effect));
    return most;
  }

  [[nodiscard]] int points_of(std::size_t p) const {
    int count = 0;
    for (std::size_t i = 0; i < result_.weights.size(); ++i)
      count += std::abs(result_.effects[p][i]) >= kHangs && result_.weights[i] > 0 ? 1 : 0;
    return count;
  }

  // The figures whose errors make up for this one's, the closest first.
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
    auto const off = kInterval * std::max(kFinestDeviation, result_.deviation[p]);
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

  // What the data that hang mostly on one thing's figure say of it.
  struct Place {
    CalibrationTarget own;
    double middle = 0;  // how far from its part's value they have it, as a logarithm: their median
    double spread = 0;  // standard deviation of that
  };
  struct Odd {
    CalibrationTarget target;
    double value;  // logarithms
    double start;
    double sureness;
  };

  // The thing that most surely differs from the others of its part; nullopt where none does. What the model misses in
  // all of them alike makes none of them odd.
  [[nodiscard]] std::optional<Odd> odd_one() const {
    std::optional<Odd> oddest;
    for (std::size_t p = 0; p < problem_.parameters.size(); ++p) {
      if (!targets_[p].at.empty() || largest_effect(p) < kMostlyIts / 2) continue;
      auto const places = places_of(p);
      for (std::size_t i = 0; i < places.size(); ++i) {
        std::vector<double> others;
        for (std::size_t k = 0; k < places.size(); ++k)
          if (k != i) others.push_back(places[k].middle);
        if (others.empty()) continue;
        auto const off = std::abs(places[i].middle - median(std::move(others)));
        auto const sureness = off / places[i].spread;
        bool const further = std::abs(places[i].middle) >= off / 2;  // of two that differ, the one that is further off
        if (off < kDiffers || sureness < kSureDeviations || !further) continue;
        if (oddest && oddest->sureness >= sureness) continue;
        auto const& parameter = problem_.parameters[p];
        oddest = {places[i].own, std::min(result_.at[p] + places[i].middle, parameter.upper_limit), parameter.start,
                  sureness};
      }
    }
    return oddest;
  }

  // Everything with this figure's part that has no figure of its own yet, and enough data.
  [[nodiscard]] std::vector<Place> places_of(std::size_t p) const {
    std::vector<Place> found;
    auto const& target = targets_[p];
    auto const names = places_of_part(machine_, target.part);
    if (names.size() < 2) return found;
    for (auto const& name : names) {
      CalibrationTarget const own{target.figure, target.part, name};
      if (std::find(targets_.begin(), targets_.end(), own) != targets_.end()) continue;
      auto moves = moves_of(p, own);
      if (moves.size() < kFewestPoints) continue;
      auto const count = static_cast<double>(moves.size());
      Place place{own, median(moves), 0};
      for (auto& move : moves) move = std::abs(move - place.middle);
      place.spread = std::max(kDeviationOfMedian * median(std::move(moves)), result_.scale) / std::sqrt(count);
      found.push_back(std::move(place));
    }
    return found;
  }

  // How far each of the data that hang mostly on one thing's figure would move it.
  [[nodiscard]] std::vector<double> moves_of(std::size_t p, CalibrationTarget const& own) const {
    constexpr double kStep = 0.01;
    auto targets = targets_;
    targets.push_back(own);
    auto values = exponentials(result_.at);
    auto const above = std::min(result_.at[p] + kStep, problem_.parameters[p].upper_limit);
    values.push_back(std::exp(above));
    auto const high = observations_.predictions(targets, values);
    values.back() = std::exp(result_.at[p] - kStep);
    auto const low = observations_.predictions(targets, values);
    std::vector<double> moves;
    for (std::size_t i = 0; i < high.size(); ++i) {
      auto const effect = (high[i] - low[i]) / (above - result_.at[p] + kStep);
      if (std::abs(effect) >= kMostlyIts) moves.push_back(result_.residuals[i] / effect);
    }
    return moves;
  }

  Observations const& observations_;
  Machine const& machine_;
  std::vector<CalibrationTarget> targets_;
  FitProblem problem_;
  FitResult result_;
};

FitError error_of(Observations const& observations, std::vector<double> const& predictions) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < predictions.size(); ++i)
    errors.push_back(std::abs(std::exp(predictions[i]) / observations.all()[i].point->value - 1));
  if (errors.empty()) return {};
  return {errors.size(), quantile(errors, 0.5), quantile(errors, 0.95)};
}

MeasurementStamp stamp_of(CalibrationRequest const& request) {
  auto const& m = request.measurement;
  return {m.name, m.date, m.source, request.digest, m.environment};
}

// The targets and values of all that was fitted; parts before single things, which begin as copies of theirs.
std::pair<std::vector<CalibrationTarget>, std::vector<double>> in_place(std::vector<FittedFigure> const& figures) {
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

// The most that host memory gave to, or took from, the devices of one socket at once in a pattern.
double busiest_io_die(Observations const& patterns, Machine const& machine) {
  double most = 0;
  for (auto const& observation : patterns.all()) {
    std::map<std::pair<SocketId, bool>, double> bytes;  // by socket and direction
    double all = 0;
    for (auto const& request : observation.requests) {
      auto const size = static_cast<double>(request.bytes.value());
      all += size;
      bool const inward = std::holds_alternative<NumaId>(request.to);
      auto const* device = std::get_if<PciId>(inward ? &request.from : &request.to);
      if (device != nullptr && inward != std::holds_alternative<NumaId>(request.from))
        bytes[{machine.socket_of(*device), inward}] += size;
    }
    auto const value = observation.point->value;
    auto const seconds = observation.series->quantity == MeasuredQuantity::Bandwidth ? all / value : value;
    for (auto const& [unused, moved] : bytes) most = std::max(most, moved / seconds);
  }
  return most;
}

// Gives every CPU that states no limit of its I/O die one to begin from; whether any got one.
bool assume_io_dies(Machine& machine, double bytes_per_second) {
  bool any = false;
  for (auto& part : machine.parts) {
    if (part.kind != PartKind::Cpu || part.cpu.io_die_bandwidth || !(bytes_per_second > 0)) continue;
    part.cpu.io_die_bandwidth = BytesPerSecond(bytes_per_second);
    any = true;
  }
  return any;
}

// What single transfers are fitted with: also a limit that many cores of a NUMA node together reach by themselves.
std::vector<CalibrationTarget> targets_of_singles(Observations const& singles, Machine const& machine) {
  constexpr double kLower = 0.99;
  auto targets = targets_of(machine, false);
  auto const usual = singles.predictions({}, {});
  for (auto const& limit : targets_of(machine, true)) {
    auto const lowered = singles.predictions({limit}, {*limit.value(machine) * kLower});
    bool reached = false;
    for (std::size_t i = 0; i < usual.size(); ++i)
      reached = reached || (singles.all()[i].series->cores > 1 && usual[i] != lowered[i]);
    if (reached) targets.push_back(limit);
  }
  return targets;
}

// Limits of what meets there, fitted to patterns with everything else in place. One that no part states is assumed only
// where those that are stated cannot explain the patterns.
void fit_shared(CalibrationRequest const& request, Machine const& machine, Catalogue& catalogue,
                CalibrationOutcome& outcome) {
  constexpr double kExplained = 0.1;  // the error that 19 of 20 of their figures must be within
  auto calibrated = machine;
  auto const fixed = in_place(outcome.figures);
  auto const& known = fixed.first;
  for (std::size_t i = 0; i < known.size(); ++i) known[i].set(calibrated, fixed.second[i]);
  Observations const plain(request.measurement, machine, catalogue, request.patterns, request.executor);
  Observations const patterns(request.measurement, calibrated, catalogue, request.patterns, request.executor);
  if (patterns.size() == 0) throw InputError("--patterns: none of these figures can be predicted");
  outcome.patterns_before = error_of(plain, plain.predictions({}, {}));
  auto const fitted_with = [&](Machine const& begun) {
    auto tried = outcome;
    auto limits = targets_of(begun, true);  // but for those that single transfers have told
    std::erase_if(limits,
                  [&](CalibrationTarget const& limit) { return std::ranges::find(known, limit) != known.end(); });
    PartFit fit(patterns, begun, std::move(limits));
    fit.run();
    fit.report(tried);
    auto const [targets, values] = in_place(tried.figures);
    tried.patterns_after = error_of(plain, plain.predictions(targets, values));
    return tried;
  };
  auto best = fitted_with(calibrated);
  if (best.patterns_after.p95 > kExplained && assume_io_dies(calibrated, busiest_io_die(patterns, machine))) {
    auto with_dies = fitted_with(calibrated);
    if (with_dies.patterns_after.p95 < best.patterns_after.p95 / 2) best = std::move(with_dies);
  }
  outcome = std::move(best);
  for (auto& figure : outcome.figures) figure.before = figure.target.value(machine);
}

}  // namespace

CalibrationOutcome calibrate(CalibrationRequest const& request, Machine const& machine, Catalogue& catalogue) {
  Observations const singles(request.measurement, machine, catalogue);
  if (singles.size() == 0)
    throw InputError(fmt::format(
        "'{}' has no single transfer that can be predicted on '{}'{}", request.measurement.name, machine.name,
        singles.left_out().empty() ? std::string() : ": " + singles.left_out().begin()->first));
  CalibrationOutcome outcome;
  outcome.overlay.machine = machine.name;
  outcome.overlay.fingerprint = fingerprint(machine);
  outcome.overlay.measurement = stamp_of(request);
  outcome.left_out = singles.left_out();
  PartFit fit(singles, machine, targets_of_singles(singles, machine));
  fit.run();
  fit.report(outcome);
  for (auto const weight : fit.result().weights) outcome.outliers += weight > 0 ? 0 : 1;
  outcome.before = error_of(singles, singles.predictions({}, {}));
  auto const [targets, values] = in_place(outcome.figures);
  outcome.after = error_of(singles, singles.predictions(targets, values));
  if (!request.patterns.empty()) fit_shared(request, machine, catalogue, outcome);
  for (auto const& figure : outcome.figures) outcome.overlay.values.push_back(figure.fitted);
  return outcome;
}

}  // namespace lanewise
