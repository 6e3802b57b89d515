#include "core/estimate/running_flows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lanewise {

void RunningFlows::begin(std::size_t step) {
  auto const flow_class = flows_.class_of()[step];
  auto& [moved, ends] = classes_[flow_class];
  if (ends.empty()) {
    busy_.push_back(flow_class);
    moved = 0;
  }
  ends.emplace(moved + static_cast<double>(steps_[step].bytes.value()), step);
  active_.begin(flow_class);
}

double RunningFlows::seconds_to_next_end() const {
  auto next = std::numeric_limits<double>::infinity();
  for (auto const flow_class : busy_) next = std::min(next, left_of(flow_class) / rate_of(flow_class));
  return next;
}

double RunningFlows::pass(double seconds, double slack, std::vector<std::size_t>& ended) {
  double last = 0;
  for (auto const flow_class : busy_) last = std::max(last, pass(flow_class, seconds, slack, ended));
  std::erase_if(busy_, [&](std::uint32_t flow_class) { return classes_[flow_class].ends.empty(); });
  if (last > 0)
    for (auto const flow_class : busy_) classes_[flow_class].moved += rate_of(flow_class) * last;
  return last;
}

double RunningFlows::pass(std::uint32_t flow_class, double seconds, double slack, std::vector<std::size_t>& ended) {
  auto& [moved, ends] = classes_[flow_class];
  auto const rate = rate_of(flow_class);
  bool const is_instant = std::isinf(rate);
  if (!is_instant) moved += rate * seconds;
  double last = 0;
  while (!ends.empty() && (is_instant || left_of(flow_class) <= rate * slack)) {
    last = std::max(last, left_of(flow_class) / rate);
    ended.push_back(ends.top().second);
    ends.pop();
    active_.end(flow_class);
  }
  return last;
}

}  // namespace lanewise
