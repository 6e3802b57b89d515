#include "core/estimate/sharing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace lanewise {
namespace {

// Rates this close are one: what rounding leaves between equal quotients.
constexpr double kEqual = 1 + 1e-12;
constexpr double kRest = 1e-9;  // of weights: less is none
// All flows at once, each as fast as it is alone, leave that much of what is never full.
constexpr double kLeft = 0.01;

// What all flows at once would take of each capacity, as a part of it, were each as fast as it is alone.
std::vector<double> most_taken(std::vector<double> const& capacities, std::span<Sharing::Flow const> flows) {
  std::vector<double> most(capacities.size(), 0);
  for (auto const& flow : flows) {
    auto alone = flow.cap;
    for (auto const& use : flow.uses) alone = std::min(alone, capacities[use.resource] / use.weight);
    for (auto const& use : flow.uses) most[use.resource] += use.weight * alone / capacities[use.resource];
  }
  return most;
}

}  // namespace

void Sharing::share(std::span<Flow*> flows) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  used_.clear();
  rising_.assign(flows.begin(), flows.end());
  for (auto const* flow : rising_)
    for (auto const& use : flow->uses) {
      if (weights_[use.resource] == 0) {
        used_.push_back(use.resource);
        left_[use.resource] = capacities_[use.resource];
      }
      weights_[use.resource] += use.weight;
    }
  for (auto const resource : used_) full_at_[resource] = left_[resource] / weights_[resource];
  while (!rising_.empty()) {
    auto const lower = [](double one, double other) { return std::min(one, other); };
    auto level = std::transform_reduce(used_.begin(), used_.end(), kNever, lower,
                                       [&](std::uint32_t resource) { return full_at_[resource]; });
    level =
        std::transform_reduce(rising_.begin(), rising_.end(), level, lower, [](Flow const* flow) { return flow->cap; });
    // Who is held is decided before anyone is taken out.
    auto const reached = level * kEqual;
    auto const held = std::partition(rising_.begin(), rising_.end(), [&](Flow const* flow) {
      bool rises = flow->cap > reached;
      for (auto const& use : flow->uses) rises &= full_at_[use.resource] > reached;  // to branch would cost more
      return rises;
    });
    for (auto it = held; it != rising_.end(); ++it) {
      (*it)->rate = level;
      for (auto const& use : (*it)->uses) {
        auto& left = left_[use.resource];
        auto& weight = weights_[use.resource];
        left = std::max(0.0, left - level * use.weight);
        weight -= use.weight;
        // A sum of weights that went up and down again leaves a rest of rounding where nobody rises any more.
        full_at_[use.resource] = weight > kRest ? left / weight : kNever;
      }
    }
    rising_.erase(held, rising_.end());
  }
  for (auto const resource : used_) weights_[resource] = 0;
}

std::vector<bool> never_binding(std::vector<double> const& capacities, std::span<Sharing::Flow const> flows) {
  struct Known {
    bool is_used = false;
    std::vector<std::uint32_t> fuller;  // of which no flow so far takes a smaller part
  };
  std::vector<Known> known(capacities.size());
  std::vector<double> part(capacities.size(), 0);  // that a flow takes
  for (auto const& flow : flows) {
    for (auto const& use : flow.uses) part[use.resource] += use.weight / capacities[use.resource];
    for (auto const& use : flow.uses) {
      auto& [is_used, fuller] = known[use.resource];
      if (!std::exchange(is_used, true))
        for (auto const& other : flow.uses) fuller.push_back(other.resource);
      std::erase_if(fuller, [&](std::uint32_t other) {
        return other == use.resource || part[other] < part[use.resource] || part[other] == 0;
      });
    }
    for (auto const& use : flow.uses) part[use.resource] = 0;
  }
  auto const most = most_taken(capacities, flows);
  std::vector<bool> never(capacities.size(), false);
  for (std::size_t resource = 0; resource < never.size(); ++resource)
    never[resource] =
        most[resource] < 1 - kLeft || std::any_of(known[resource].fuller.begin(), known[resource].fuller.end(),
                                                  [&](std::uint32_t other) { return !never[other]; });
  return never;
}

}  // namespace lanewise
