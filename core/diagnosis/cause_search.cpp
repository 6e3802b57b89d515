#include "core/diagnosis/cause_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/diagnosis/grading.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

// Upper limit of the squared standard deviations of a point: a figure that no hypothesis explains must not decide.
constexpr double kMaxLoss = 25;
constexpr double kMinGain = 9;          // a cause explains at least three standard deviations of one point
constexpr double kSameGain = 2;         // hypotheses whose gains differ by less cannot be told apart
constexpr double kMaxDeviations = 2.5;  // standard deviations within which a cause explains a point
// Of collectives a cause is named for one figure just outside its range: a whole table often has the one figure. What a
// fault does to a library is known less well than what it does to a copy. Up to three causes are named for the same
// rows.
constexpr double kMinGainOfLibrary = 3;
constexpr double kMaxDeviationsOfLibrary = 3;
constexpr std::size_t kMaxNamedOfLibrary = 3;
constexpr std::size_t kMaxCauses = 8;
// Points that hypotheses are tested on. Points of several transfers are simulated for every hypothesis.
constexpr std::size_t kMaxSinglePoints = 200, kMaxPatternPoints = 24;

class CauseSearch {
 public:
  CauseSearch(Measurement const& measurement, AccuracyContext const& context, Diagnosis& diagnosis,
              std::vector<SlowPoint> sources)
      : measurement_(measurement),
        context_(context),
        diagnosis_(diagnosis),
        sources_(std::move(sources)),
        machine_(described()) {}

  void run() {
    select_points();
    if (slow_.empty()) return;
    std::vector<SlowPoint> slow;
    for (auto const i : slow_) slow.push_back(sources_[i]);
    by_library_ =
        std::any_of(slow.begin(), slow.end(), [](SlowPoint const& one) { return one.series->collective.has_value(); });
    for (auto& hypothesis : hypotheses_for(machine_, slow, context_.catalogue))
      evaluate_hypothesis(std::move(hypothesis));
    while (diagnosis_.causes.size() < kMaxCauses && take_best()) {
    }
    assign_rest();
  }

  // Finds what would make the rules refuse the peer access that the machine refuses.
  void explain_refusals() {
    std::size_t refused = 0;
    for (auto const& fact : diagnosis_.facts) refused += fact.grade == Grade::Fail ? 1 : 0;
    if (refused == 0) return;
    Cause cause{peer_refused(), {}, 0, refused};
    auto most = agreeing(cause.what);
    for (auto& hypothesis : refusals_for(machine_, context_.catalogue)) {
      auto const agree = agreeing(hypothesis);
      if (agree > most) {
        most = agree;
        cause.also.clear();
        cause.what = std::move(hypothesis);
      } else if (agree == most && cause.what.change) {
        cause.also.push_back(std::move(hypothesis));
      }
    }
    for (auto& known : diagnosis_.causes)
      if (known.what.kind == cause.what.kind && known.what.subject == cause.what.subject) {
        known.refusals = refused;
        return;
      }
    diagnosis_.causes.push_back(std::move(cause));
  }

 private:
  // The number of facts that agree with the rules under a hypothesis.
  std::size_t agreeing(Hypothesis const& hypothesis) {
    Measurement facts;
    facts.machine = measurement_.machine;
    facts.settings = measurement_.settings;
    facts.facts = measurement_.facts;
    try {
      auto const result = evaluate(facts, context_under(hypothesis));
      return static_cast<std::size_t>(
          std::count_if(result.facts.begin(), result.facts.end(), [](FactResult const& f) { return f.agrees; }));
    } catch (Interrupted const&) {
      throw;
    } catch (Error const&) {
      return 0;
    }
  }

  // The context with the described machine changed by a hypothesis.
  AccuracyContext context_under(Hypothesis const& hypothesis) {
    auto context = context_;
    context.ranges = false;
    context.machine = [this](Measurement const&) { return base(); };
    context.override_machine = [this, &hypothesis](Machine& machine) {
      context_.override_machine(machine);
      if (hypothesis.change) hypothesis.change(machine);
    };
    return context;
  }

  struct EvaluatedHypothesis {
    Hypothesis hypothesis;
    std::vector<std::optional<double>> predicted;  // of selected_
  };

  // The described machine with the settings of the measurement and of the command line.
  Machine described() {
    auto machine = context_.machine(measurement_);
    for (auto const& setting : measurement_.settings) apply_setting(machine, setting, context_.catalogue);
    context_.override_machine(machine);
    return machine;
  }

  // Selects slow points first, then others; only few that need the simulator.
  void select_points() {
    std::size_t alone = 0;
    std::size_t together = 0;
    auto const select = [&](bool slow) {
      std::vector<std::size_t> candidates;
      for (std::size_t i = 0; i < diagnosis_.points.size(); ++i)
        if (diagnosis_.points[i].result.predicted && is_slow(diagnosis_.points[i]) == slow) candidates.push_back(i);
      // Points that should be as fast as a slow one tell most: its cause must not slow them.
      if (!slow)
        std::stable_partition(candidates.begin(), candidates.end(), [&](std::size_t i) { return like_slow(i); });
      // Every n-th slow point, then those between.
      auto const step = slow ? std::max<std::size_t>(1, candidates.size() / (kMaxSinglePoints / 2)) : 1;
      for (std::size_t first = 0; first < step; ++first)
        for (auto k = first; k < candidates.size(); k += step) {
          bool const single = sources_[candidates[k]].point->flows.size() == 1;
          auto const most = (single ? kMaxSinglePoints : kMaxPatternPoints) / (slow ? 2 : 1);
          auto& used = single ? alone : together;
          if (used >= most) continue;
          ++used;
          selected_.push_back(candidates[k]);
        }
    };
    select(true);
    slow_ = selected_;
    select(false);
    std::sort(selected_.begin(), selected_.end());
    open_.assign(selected_.size(), true);
  }

  [[nodiscard]] bool like_slow(std::size_t i) const {
    auto const& p = diagnosis_.points[i].result;
    return std::any_of(slow_.begin(), slow_.end(), [&](std::size_t s) {
      auto const& other = diagnosis_.points[s].result;
      return other.series == p.series && std::abs(*other.predicted / *p.predicted - 1) < 0.02;
    });
  }

  // The predictions of these points under a hypothesis; empty if the model refuses the changed machine.
  std::vector<std::optional<double>> predict(Hypothesis const& hypothesis, std::vector<std::size_t> const& points) {
    Measurement reread;
    reread.machine = measurement_.machine;
    reread.settings = measurement_.settings;
    reread.withheld = measurement_.withheld;
    std::vector<bool> changed(points.size(), true);
    for (std::size_t k = 0; k < points.size(); ++k) {
      auto const& source = sources_[points[k]];
      auto series = *source.series;
      series.points = {*source.point};
      if (hypothesis.reinterpret)
        changed[k] = is_slow(diagnosis_.points[points[k]]) && hypothesis.reinterpret(series, series.points.front());
      reread.series.push_back(std::move(series));
    }
    try {
      auto const result = evaluate(reread, context_under(hypothesis));
      std::vector<std::optional<double>> predicted;
      for (std::size_t k = 0; k < points.size(); ++k) {
        auto const& usual = diagnosis_.points[points[k]].result.predicted;
        // A point that the hypothesis does not change, or makes impossible, keeps its prediction.
        auto figure = changed[k] && result.points[k].predicted ? *result.points[k].predicted : *usual;
        bool const is_rate = diagnosis_.points[points[k]].result.quantity == MeasuredQuantity::Bandwidth;
        predicted.emplace_back(is_rate ? figure / hypothesis.slowdown : figure * hypothesis.slowdown);
      }
      return predicted;
    } catch (Interrupted const&) {
      throw;
    } catch (Error const&) {
      return {};
    }
  }

  Machine const& base() {
    if (!base_) base_ = context_.machine(measurement_);
    return *base_;
  }

  // Whether no figure is as it should be.
  [[nodiscard]] bool all_are_slow() const {
    return std::all_of(diagnosis_.points.begin(), diagnosis_.points.end(),
                       [](GradedPoint const& point) { return !point.result.predicted || is_slow(point); });
  }

  void evaluate_hypothesis(Hypothesis hypothesis) {
    if (hypothesis.slowdown > 1 && !all_are_slow()) return;
    auto predicted = predict(hypothesis, selected_);
    if (!predicted.empty()) evaluated_.push_back({std::move(hypothesis), std::move(predicted)});
  }

  [[nodiscard]] double deviations(std::size_t point, double predicted) const {
    auto const& p = diagnosis_.points[point].result;
    return std::log(slowness(p, predicted)) / log_deviation(p);
  }
  [[nodiscard]] double loss(std::size_t point, double predicted) const {
    auto const z = deviations(point, predicted);
    return std::min(z * z, kMaxLoss);
  }

  // How much the hypothesis reduces the loss, over the points that no cause explains yet.
  [[nodiscard]] double gain(EvaluatedHypothesis const& evaluated) const {
    double sum = -evaluated.hypothesis.handicap;
    for (std::size_t k = 0; k < selected_.size(); ++k)
      if (open_[k])
        sum += loss(selected_[k], *diagnosis_.points[selected_[k]].result.predicted) -
               loss(selected_[k], *evaluated.predicted[k]);
    return sum;
  }

  // Adds the hypothesis with the largest gain as a cause, with those of equal gain. Returns false if none is worth
  // naming.
  bool take_best() {
    std::vector<double> gains;
    for (auto const& evaluated : evaluated_) gains.push_back(gain(evaluated));
    auto const best = std::max_element(gains.begin(), gains.end());
    if (best == gains.end() || *best < (by_library_ ? kMinGainOfLibrary : kMinGain)) return false;
    Cause cause;
    std::optional<std::size_t> first;  // the likeliest of those with equal gain
    for (std::size_t i = 0; i < gains.size(); ++i) {
      if (gains[i] < *best - kSameGain) continue;
      if (!first) {
        first = i;
        cause.what = evaluated_[i].hypothesis;
      } else {
        cause.also.push_back(evaluated_[i].hypothesis);
      }
    }
    if (by_library_) add_less_likely(cause, *first, gains, *best - kSameGain);
    bool any = false;
    for (std::size_t k = 0; k < selected_.size(); ++k) {
      auto& point = diagnosis_.points[selected_[k]];
      if (!open_[k] || !is_slow(point) || !explains(selected_[k], *evaluated_[*first].predicted[k])) continue;
      point.cause = diagnosis_.causes.size();
      open_[k] = false;
      ++cause.explained;
      any = true;
    }
    if (!any) return false;
    diagnosis_.causes.push_back(std::move(cause));
    return true;
  }

  // What explains the same rows, though not as well.
  void add_less_likely(Cause& cause, std::size_t first, std::vector<double> const& gains, double below) const {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < gains.size(); ++i) {
      bool explains_all = gains[i] < below && gains[i] >= kMinGainOfLibrary;
      for (std::size_t k = 0; k < selected_.size() && explains_all; ++k)
        if (open_[k] && is_slow(diagnosis_.points[selected_[k]]) &&
            explains(selected_[k], *evaluated_[first].predicted[k]))
          explains_all = explains(selected_[k], *evaluated_[i].predicted[k]);
      if (explains_all) others.push_back(i);
    }
    std::stable_sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) { return gains[a] > gains[b]; });
    for (auto const i : others)
      if (cause.also.size() + 1 < kMaxNamedOfLibrary) cause.also.push_back(evaluated_[i].hypothesis);
  }

  // The point is near the new prediction, and nearer than to the old one.
  [[nodiscard]] bool explains(std::size_t point, double predicted) const {
    auto const usual = *diagnosis_.points[point].result.predicted;
    return std::abs(deviations(point, predicted)) < (by_library_ ? kMaxDeviationsOfLibrary : kMaxDeviations) &&
           loss(point, predicted) + 1 < loss(point, usual);
  }

  // Assigns causes to the slow points that were not selected.
  void assign_rest() {
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < diagnosis_.points.size(); ++i)
      if (is_slow(diagnosis_.points[i]) && !std::binary_search(selected_.begin(), selected_.end(), i))
        rest.push_back(i);
    for (std::size_t c = 0; c < diagnosis_.causes.size() && !rest.empty(); ++c) {
      auto const predicted = predict(diagnosis_.causes[c].what, rest);
      for (std::size_t k = 0; k < predicted.size(); ++k) {
        auto& point = diagnosis_.points[rest[k]];
        if (point.cause || !explains(rest[k], *predicted[k])) continue;
        point.cause = c;
        ++diagnosis_.causes[c].explained;
      }
    }
  }

  Measurement const& measurement_;
  AccuracyContext const& context_;
  Diagnosis& diagnosis_;
  std::vector<SlowPoint> sources_;  // of diagnosis_.points
  Machine machine_;
  std::optional<Machine> base_;
  std::vector<std::size_t> selected_, slow_;  // into diagnosis_.points
  bool by_library_ = false;                   // the slow points are of collectives
  std::vector<bool> open_;                    // of selected_: no cause explains it yet
  std::vector<EvaluatedHypothesis> evaluated_;
};

}  // namespace

void find_causes(Measurement const& measurement, AccuracyContext const& context, std::vector<SlowPoint> sources,
                 Diagnosis& diagnosis) {
  CauseSearch search(measurement, context, diagnosis, std::move(sources));
  search.run();
  search.explain_refusals();
}

}  // namespace lanewise
