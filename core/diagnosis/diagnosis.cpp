#include "core/diagnosis/diagnosis.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/diagnosis/cause_search.hpp"
#include "core/diagnosis/grading.hpp"

namespace lanewise {
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

std::size_t Diagnosis::left_out_count() const {
  return std::accumulate(left_out.begin(), left_out.end(), std::size_t{0},
                         [](std::size_t sum, auto const& one) { return sum + one.second; });
}

Diagnosis diagnose(Measurement const& measurement, AccuracyContext const& context) {
  auto with_possible = context;
  with_possible.possible = true;
  auto result = evaluate(measurement, with_possible);
  Diagnosis diagnosis{measurement.name, measurement.machine, {}, {}, {}, {}};
  std::vector<SlowPoint> sources;
  std::size_t at = 0;
  for (auto const& series : measurement.series)
    for (auto const& point : series.points) {
      auto& entry = result.points[at++];
      if (!entry.in_gate()) {
        ++diagnosis.left_out[entry.doubtful];
        continue;
      }
      diagnosis.points.push_back(graded(std::move(entry)));
      sources.push_back({&series, &point});
    }
  warn_of_outliers(diagnosis.points);
  for (std::size_t i = 0; i < result.facts.size(); ++i) {
    auto& fact = result.facts[i];
    if (!fact.in_gate()) {
      ++diagnosis.left_out[fact.doubtful];
      continue;
    }
    // What the machine refuses although the rules allow it is a fault; what it can do beyond them is not.
    auto const& said = measurement.facts[i];
    bool const missing = !fact.agrees && said.mechanism && !said.legal;
    auto const grade = fact.agrees ? Grade::Pass : missing ? Grade::Fail : Grade::Warn;
    diagnosis.facts.push_back({std::move(fact), grade});
  }
  find_causes(measurement, context, std::move(sources), diagnosis);
  return diagnosis;
}

}  // namespace lanewise
