#include "core/diagnosis/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/io/error.hpp"
#include "core/model/resources/parameter.hpp"

namespace lanewise {
namespace {

constexpr double kAlwaysFine = 1.1;          // within 10 % passes, however narrow the range
constexpr double kSlowerThanAlike = 0.9;     // of the median of figures that are predicted alike
constexpr std::size_t kFewestForMedian = 4;  // so many make a median
constexpr double kNinety = 1.645;            // standard deviations to an end of a 90 % range
// Squared standard deviations of a point count at most so much: a figure that nothing explains decides nothing.
constexpr double kMaxLoss = 25;
constexpr double kWorthNaming = 9;  // a cause must explain three standard deviations of one point
constexpr double kAsGood = 2;       // two causes whose losses differ by less cannot be told apart
constexpr double kExplained = 2.5;  // standard deviations within which a cause explains a point
constexpr std::size_t kMaxCauses = 8;
// Points that hypotheses are held against, slow ones and others; those of several transfers are simulated each time.
constexpr std::size_t kMaxAlone = 200, kMaxTogether = 24;

// How many times slower than predicted; below 1: faster.
double slowness(PointResult const& p, double predicted) {
  return p.quantity == MeasuredQuantity::Bandwidth ? predicted / p.measured : p.measured / predicted;
}
double slow_end(PointResult const& p) {
  return p.quantity == MeasuredQuantity::Bandwidth ? *p.predicted / p.interval.low : p.interval.high / *p.predicted;
}
double fast_end(PointResult const& p) {
  return p.quantity == MeasuredQuantity::Bandwidth ? p.interval.high / *p.predicted : *p.predicted / p.interval.low;
}
// The standard deviation of the logarithm, never below the spread between runs.
double deviation(PointResult const& p) {
  return std::max(kRunToRunSpread, std::log(p.interval.high / p.interval.low) / 2 / kNinety);
}

GradedPoint graded(PointResult result) {
  GradedPoint point{std::move(result), Grade::Pass, 0, {}, {}};
  auto const& p = point.result;
  if (!p.predicted) {
    point.grade = Grade::Warn;
    point.remark = (p.legal ? "" : "the rules do not allow it: ") + p.binding;
    return point;
  }
  auto const slow = slowness(p, *p.predicted);
  point.speed = 1 / slow;
  auto const end = std::max(slow_end(p), kAlwaysFine);
  if (slow > end * end)
    point.grade = Grade::Fail;
  else if (slow > end)
    point.grade = Grade::Warn;
  else if (1 / slow > std::max(fast_end(p), kAlwaysFine)) {
    point.grade = Grade::Warn;
    point.remark = "faster than the model allows: is this the machine?";
  }
  return point;
}

// Figures of a series that are predicted alike should be alike: their median is a better measure than the model.
void compare_alike(std::vector<GradedPoint>& points) {
  std::map<std::pair<std::string, long>, std::vector<GradedPoint*>> groups;
  for (auto& point : points)
    if (point.result.predicted)
      groups[{point.result.series, std::lround(std::log(*point.result.predicted) * 50)}].push_back(&point);
  for (auto& [unused, group] : groups) {
    if (group.size() < kFewestForMedian) continue;
    std::vector<double> speeds;
    for (auto const* point : group) speeds.push_back(point->speed);
    std::nth_element(speeds.begin(), speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2), speeds.end());
    auto const median = speeds[speeds.size() / 2];
    for (auto* point : group)
      if (point->grade == Grade::Pass && point->speed < median * kSlowerThanAlike) {
        point->grade = Grade::Warn;
        point->remark = fmt::format("{:.0f} % slower than its like", (1 - point->speed / median) * 100);
      }
  }
}

bool is_slow(GradedPoint const& point) {
  return point.grade != Grade::Pass && point.result.predicted && point.speed < 1;
}

// ----------------------------------------------------------------------------------------------------------- the
// search

class CauseSearch {
 public:
  CauseSearch(Measurement const& measurement, AccuracyContext const& world, Diagnosis& diagnosis,
              std::vector<SlowPoint> sources)
      : measurement_(measurement),
        world_(world),
        judgement_(diagnosis),
        sources_(std::move(sources)),
        machine_(described()) {}

  void run() {
    choose_points();
    if (slow_.empty()) return;
    std::vector<SlowPoint> slow;
    for (auto const i : slow_) slow.push_back(sources_[i]);
    for (auto& hypothesis : hypotheses_for(machine_, slow, world_.catalogue)) weigh(std::move(hypothesis));
    while (judgement_.causes.size() < kMaxCauses && take_best()) {
    }
    assign_rest();
  }

  // Peer access that the machine refuses although the rules allow it: what would make them refuse it too?
  void explain_refusals() {
    std::size_t refused = 0;
    for (auto const& fact : judgement_.facts) refused += fact.grade == Grade::Fail ? 1 : 0;
    if (refused == 0) return;
    Cause cause{peer_refused(), {}, 0, refused};
    auto most = agreeing(cause.what);
    for (auto& hypothesis : refusals_for(machine_, world_.catalogue)) {
      auto const agree = agreeing(hypothesis);
      if (agree > most) {
        most = agree;
        cause.also.clear();
        cause.what = std::move(hypothesis);
      } else if (agree == most && cause.what.change) {
        cause.also.push_back(std::move(hypothesis));
      }
    }
    for (auto& known : judgement_.causes)
      if (known.what.kind == cause.what.kind && known.what.subject == cause.what.subject) {
        known.refusals = refused;
        return;
      }
    judgement_.causes.push_back(std::move(cause));
  }

 private:
  // How many facts the rules agree with under a hypothesis.
  std::size_t agreeing(Hypothesis const& hypothesis) {
    Measurement facts;
    facts.machine = measurement_.machine;
    facts.settings = measurement_.settings;
    facts.facts = measurement_.facts;
    try {
      auto const result = evaluate(facts, world_under(hypothesis));
      return static_cast<std::size_t>(
          std::count_if(result.facts.begin(), result.facts.end(), [](FactResult const& f) { return f.agrees; }));
    } catch (Error const&) {
      return 0;
    }
  }

  // The described machine, changed as a hypothesis says.
  AccuracyContext world_under(Hypothesis const& hypothesis) {
    auto world = world_;
    world.ranges = false;
    world.machine = [this](Measurement const&) { return base(); };
    world.override_machine = [this, &hypothesis](Machine& machine) {
      world_.override_machine(machine);
      if (hypothesis.change) hypothesis.change(machine);
    };
    return world;
  }

  struct EvaluatedHypothesis {
    Hypothesis hypothesis;
    std::vector<std::optional<double>> predicted;  // of chosen_
  };

  // The machine that the measurement is judged against, with its settings and the command line's.
  Machine described() {
    auto machine = world_.machine(measurement_);
    for (auto const& setting : measurement_.settings) apply_setting(machine, setting, world_.catalogue);
    world_.override_machine(machine);
    return machine;
  }

  // Slow points first, then others evenly; few that must be simulated.
  void choose_points() {
    std::size_t alone = 0;
    std::size_t together = 0;
    auto const choose = [&](bool slow) {
      std::vector<std::size_t> candidates;
      for (std::size_t i = 0; i < judgement_.points.size(); ++i)
        if (judgement_.points[i].result.predicted && is_slow(judgement_.points[i]) == slow) candidates.push_back(i);
      // Those that a slow one should be like tell most: what slows it must not slow them.
      if (!slow)
        std::stable_partition(candidates.begin(), candidates.end(), [&](std::size_t i) { return like_slow(i); });
      // Of slow ones every n-th, then those between.
      auto const step = slow ? std::max<std::size_t>(1, candidates.size() / (kMaxAlone / 2)) : 1;
      for (std::size_t first = 0; first < step; ++first)
        for (auto k = first; k < candidates.size(); k += step) {
          bool const single = sources_[candidates[k]].point->flows.size() == 1;
          auto const most = (single ? kMaxAlone : kMaxTogether) / (slow ? 2 : 1);
          auto& used = single ? alone : together;
          if (used >= most) continue;
          ++used;
          chosen_.push_back(candidates[k]);
        }
    };
    choose(true);
    slow_ = chosen_;
    choose(false);
    std::sort(chosen_.begin(), chosen_.end());
    open_.assign(chosen_.size(), true);
  }

  [[nodiscard]] bool like_slow(std::size_t i) const {
    auto const& p = judgement_.points[i].result;
    return std::any_of(slow_.begin(), slow_.end(), [&](std::size_t s) {
      auto const& other = judgement_.points[s].result;
      return other.series == p.series && std::abs(*other.predicted / *p.predicted - 1) < 0.02;
    });
  }

  // The predictions of the chosen points under a hypothesis; empty where the model refuses to think it.
  std::vector<std::optional<double>> predict(Hypothesis const& hypothesis, std::vector<std::size_t> const& points) {
    Measurement retold;
    retold.machine = measurement_.machine;
    retold.settings = measurement_.settings;
    retold.withheld = measurement_.withheld;
    std::vector<bool> told(points.size(), true);
    for (std::size_t k = 0; k < points.size(); ++k) {
      auto const& source = sources_[points[k]];
      auto series = *source.series;
      series.points = {*source.point};
      if (hypothesis.reinterpret)
        told[k] = is_slow(judgement_.points[points[k]]) && hypothesis.reinterpret(series, series.points.front());
      retold.series.push_back(std::move(series));
    }
    try {
      auto const result = evaluate(retold, world_under(hypothesis));
      std::vector<std::optional<double>> predicted;
      for (std::size_t k = 0; k < points.size(); ++k) {
        auto const& usual = judgement_.points[points[k]].result.predicted;
        // What would not have been another way, or would not have been possible, stays as it was.
        predicted.push_back(told[k] && result.points[k].predicted ? result.points[k].predicted : usual);
      }
      return predicted;
    } catch (Error const&) {
      return {};
    }
  }

  Machine const& base() {
    if (!base_) base_ = world_.machine(measurement_);
    return *base_;
  }

  void weigh(Hypothesis hypothesis) {
    auto predicted = predict(hypothesis, chosen_);
    if (!predicted.empty()) evaluated_.push_back({std::move(hypothesis), std::move(predicted)});
  }

  [[nodiscard]] double deviations(std::size_t point, double predicted) const {
    auto const& p = judgement_.points[point].result;
    return std::log(slowness(p, predicted)) / deviation(p);
  }
  [[nodiscard]] double loss(std::size_t point, double predicted) const {
    auto const z = deviations(point, predicted);
    return std::min(z * z, kMaxLoss);
  }

  // How much better than the machine as described: over all points that no cause explains yet.
  [[nodiscard]] double gain(EvaluatedHypothesis const& evaluated) const {
    double sum = 0;
    for (std::size_t k = 0; k < chosen_.size(); ++k)
      if (open_[k])
        sum += loss(chosen_[k], *judgement_.points[chosen_[k]].result.predicted) -
               loss(chosen_[k], *evaluated.predicted[k]);
    return sum;
  }

  // Names the cause that explains most of what is left, with those that explain it as well.
  bool take_best() {
    std::vector<double> gains;
    for (auto const& evaluated : evaluated_) gains.push_back(gain(evaluated));
    auto const best = std::max_element(gains.begin(), gains.end());
    if (best == gains.end() || *best < kWorthNaming) return false;
    Cause cause;
    std::optional<std::size_t> first;  // the likeliest of those that are as good
    for (std::size_t i = 0; i < gains.size(); ++i) {
      if (gains[i] < *best - kAsGood) continue;
      if (!first) {
        first = i;
        cause.what = evaluated_[i].hypothesis;
      } else {
        cause.also.push_back(evaluated_[i].hypothesis);
      }
    }
    bool any = false;
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      auto& point = judgement_.points[chosen_[k]];
      if (!open_[k] || !is_slow(point) || !explains(chosen_[k], *evaluated_[*first].predicted[k])) continue;
      point.cause = judgement_.causes.size();
      open_[k] = false;
      ++cause.explained;
      any = true;
    }
    if (!any) return false;
    judgement_.causes.push_back(std::move(cause));
    return true;
  }

  // Nearer to it than to the machine as described, and near enough.
  [[nodiscard]] bool explains(std::size_t point, double predicted) const {
    auto const usual = *judgement_.points[point].result.predicted;
    return std::abs(deviations(point, predicted)) < kExplained && loss(point, predicted) + 1 < loss(point, usual);
  }

  // Slow points that were not among the chosen.
  void assign_rest() {
    std::vector<std::size_t> rest;
    for (std::size_t i = 0; i < judgement_.points.size(); ++i)
      if (is_slow(judgement_.points[i]) && !std::binary_search(chosen_.begin(), chosen_.end(), i)) rest.push_back(i);
    for (std::size_t c = 0; c < judgement_.causes.size() && !rest.empty(); ++c) {
      auto const predicted = predict(judgement_.causes[c].what, rest);
      for (std::size_t k = 0; k < predicted.size(); ++k) {
        auto& point = judgement_.points[rest[k]];
        if (point.cause || !explains(rest[k], *predicted[k])) continue;
        point.cause = c;
        ++judgement_.causes[c].explained;
      }
    }
  }

  Measurement const& measurement_;
  AccuracyContext const& world_;
  Diagnosis& judgement_;
  std::vector<SlowPoint> sources_;  // of judgement_.points
  Machine machine_;
  std::optional<Machine> base_;
  std::vector<std::size_t> chosen_, slow_;  // into judgement_.points
  std::vector<bool> open_;                  // of chosen_: not explained yet
  std::vector<EvaluatedHypothesis> evaluated_;
};

}  // namespace

std::string_view to_string(Grade grade) {
  constexpr std::array<std::string_view, 3> kNames{"pass", "warn", "fail"};
  return kNames.at(static_cast<std::size_t>(grade));
}

std::size_t Diagnosis::slow() const {
  return static_cast<std::size_t>(std::count_if(points.begin(), points.end(), is_slow));
}

Grade Diagnosis::worst() const {
  auto worst = Grade::Pass;
  for (auto const& point : points) worst = std::max(worst, point.grade);
  for (auto const& fact : facts) worst = std::max(worst, fact.grade);
  return worst;
}

std::size_t Diagnosis::count(Grade grade) const {
  auto const is = [&](auto const& entry) { return entry.grade == grade; };
  return static_cast<std::size_t>(std::count_if(points.begin(), points.end(), is) +
                                  std::count_if(facts.begin(), facts.end(), is));
}

Diagnosis diagnose(Measurement const& measurement, AccuracyContext const& world) {
  auto result = evaluate(measurement, world);
  Diagnosis diagnosis{measurement.name, measurement.machine, {}, {}, {}, 0};
  std::vector<SlowPoint> sources;
  std::size_t at = 0;
  for (auto const& series : measurement.series)
    for (auto const& point : series.points) {
      auto& entry = result.points[at++];
      if (!entry.in_gate()) {
        ++diagnosis.left_out;
        continue;
      }
      diagnosis.points.push_back(graded(std::move(entry)));
      sources.push_back({&series, &point});
    }
  compare_alike(diagnosis.points);
  for (std::size_t i = 0; i < result.facts.size(); ++i) {
    auto& fact = result.facts[i];
    if (!fact.in_gate()) {
      ++diagnosis.left_out;
      continue;
    }
    // What the machine refuses although the rules allow it is a fault; what it can do beyond them is not.
    auto const& said = measurement.facts[i];
    bool const missing = !fact.agrees && said.mechanism && !said.legal;
    auto const grade = fact.agrees ? Grade::Pass : missing ? Grade::Fail : Grade::Warn;
    diagnosis.facts.push_back({std::move(fact), grade});
  }
  CauseSearch search(measurement, world, diagnosis, std::move(sources));
  search.run();
  search.explain_refusals();
  return diagnosis;
}

}  // namespace lanewise
