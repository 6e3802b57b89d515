#include "core/planner/schedules/critical_paths.hpp"

#include <algorithm>

namespace lanewise {
namespace {

// How much a path counts that is shorter than the longest by `gap`.
double weight_of(double gap, double near) {
  auto const closeness = std::max(0.0, 1 - gap / near);
  return closeness * closeness;
}

}  // namespace

CriticalPaths::CriticalPaths(std::vector<Step> const& steps)
    : first_{0}, ends_(steps.size()), criticality_(steps.size()) {
  std::vector<bool> is_last(steps.size(), true);
  for (auto const& step : steps) {
    for (auto const id : step.order_only) {
      before_.push_back(static_cast<std::uint32_t>(index(id)));
      is_last[index(id)] = false;
    }
    first_.push_back(static_cast<std::uint32_t>(before_.size()));
  }
  for (std::uint32_t k = 0; k < steps.size(); ++k)
    if (is_last[k]) last_steps_.push_back(k);
}

double CriticalPaths::start_of(std::size_t step) const {
  double start = 0;
  for (auto const other : before(step)) start = std::max(start, ends_[other]);
  return start;
}

double CriticalPaths::makespan(std::span<double const> durations) {
  makespan_ = 0;
  for (std::size_t k = 0; k < ends_.size(); ++k) {
    ends_[k] = start_of(k) + durations[k];
    makespan_ = std::max(makespan_, ends_[k]);
  }
  return makespan_;
}

std::span<double const> CriticalPaths::criticality(double near) {
  std::fill(criticality_.begin(), criticality_.end(), 0);
  // Divides `amount` among steps, by how late they end.
  auto const divide = [&](double amount, std::span<std::uint32_t const> among, double latest) {
    double sum = 0;
    for (auto const k : among) sum += weight_of(latest - ends_[k], near);
    for (auto const k : among) criticality_[k] += amount * weight_of(latest - ends_[k], near) / sum;
  };
  divide(1, last_steps_, makespan_);
  for (std::size_t k = ends_.size(); k-- > 0;)
    if (criticality_[k] > 0 && !before(k).empty()) divide(criticality_[k], before(k), start_of(k));
  return criticality_;
}

}  // namespace lanewise
