#include "core/diagnosis/grading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "lanewise/model/resources/parameter.hpp"

namespace lanewise {
namespace {

constexpr double kPassFactor = 1.1;           // within 10 % of the prediction passes, however narrow the range
constexpr double kOutlierSpeed = 0.9;         // of the median of figures with the same prediction
constexpr std::size_t kMinForMedian = 4;      // figures
constexpr double kDeviationsOfRange = 1.645;  // standard deviations from the middle to an end of a 90 % range

double slow_end(PointResult const& p) {
  return p.quantity == MeasuredQuantity::Bandwidth ? *p.predicted / p.interval.low : p.interval.high / *p.predicted;
}
double fast_end(PointResult const& p) {
  return p.quantity == MeasuredQuantity::Bandwidth ? p.interval.high / *p.predicted : *p.predicted / p.interval.low;
}

// Its speed if the noise of its repetitions made it slow.
double at_best(GradedPoint const& point) { return point.speed * (1 + point.result.noise.value_or(0)); }

}  // namespace

double slowness(PointResult const& p, double predicted) {
  return p.quantity == MeasuredQuantity::Bandwidth ? predicted / p.measured : p.measured / predicted;
}

double log_deviation(PointResult const& p) {
  return std::max(kRunToRunSpread, std::log(p.interval.high / p.interval.low) / 2 / kDeviationsOfRange);
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
  auto const end = std::max(slow_end(p), kPassFactor);
  auto const at_least = slow / (1 + p.noise.value_or(0));
  if (at_least > end * end) {
    point.grade = Grade::Fail;
  } else if (slow > end * end) {
    point.grade = Grade::Warn;
    point.remark = fmt::format("its repetitions differ: {:.0f} % either way", *p.noise * 100);
  } else if (at_least > end) {
    point.grade = Grade::Warn;
  } else if (slow > end) {
    point.remark = fmt::format("slow within its noise of {:.0f} %", *p.noise * 100);
  } else if (1 / slow / (1 + p.noise.value_or(0)) > std::max(fast_end(p), kPassFactor)) {
    point.grade = Grade::Warn;
    point.remark = "faster than the model allows: is this the machine?";
  }
  return point;
}

void warn_of_outliers(std::vector<GradedPoint>& points) {
  std::map<std::pair<std::string, long>, std::vector<GradedPoint*>> groups;
  for (auto& point : points)
    if (point.result.predicted)
      groups[{point.result.series, std::lround(std::log(*point.result.predicted) * 50)}].push_back(&point);
  for (auto& [unused, group] : groups) {
    if (group.size() < kMinForMedian) continue;
    std::vector<double> speeds;
    for (auto const* point : group) speeds.push_back(point->speed);
    std::nth_element(speeds.begin(), speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2), speeds.end());
    auto const median = speeds[speeds.size() / 2];
    for (auto* point : group)
      if (point->grade == Grade::Pass && at_best(*point) < median * kOutlierSpeed) {
        point->grade = Grade::Warn;
        point->remark = fmt::format("{:.0f} % slower than its like", (1 - point->speed / median) * 100);
      }
  }
}

bool is_slow(GradedPoint const& point) {
  return point.grade != Grade::Pass && point.result.predicted && point.speed < 1;
}

}  // namespace lanewise
