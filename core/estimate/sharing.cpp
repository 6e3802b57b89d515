#include "core/estimate/sharing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace lanewise {
namespace {

// Rates within this factor are equal: rounding leaves less between equal quotients.
constexpr double kEqualRates = 1 + 1e-12;
constexpr double kNoWeight = 1e-9;  // a sum of weights below this is a rest of rounding
// A resource is never full if all flows at once, each at its rate alone, leave this part of it.
constexpr double kMinSpare = 0.01;

// The part of each capacity that all flows at once would take at the rates that they have alone.
std::vector<double> max_utilisations(std::vector<double> const& capacities, std::span<Sharing::Flow const> flows) {
  std::vector<double> utilisation(capacities.size(), 0);
  for (auto const& flow : flows) {
    auto alone = flow.cap;
    for (auto const& use : flow.uses) alone = std::min(alone, capacities[use.resource] / use.weight);
    for (auto const& use : flow.uses) utilisation[use.resource] += use.weight * alone / capacities[use.resource];
  }
  return utilisation;
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
    // Find all flows that are held at this level before removing any.
    auto const reached = level * kEqualRates;
    auto const held = std::partition(rising_.begin(), rising_.end(), [&](Flow const* flow) {
      bool rises = flow->cap > reached;
      for (auto const& use : flow->uses) rises &= full_at_[use.resource] > reached;  // without branches: faster
      return rises;
    });
    for (auto it = held; it != rising_.end(); ++it) {
      (*it)->rate = level;
      for (auto const& use : (*it)->uses) {
        auto& left = left_[use.resource];
        auto& weight = weights_[use.resource];
        left = std::max(0.0, left - level * use.weight);
        weight -= use.weight;
        // Adding and subtracting weights leaves a rest of rounding where no flow rises any more.
        full_at_[use.resource] = weight > kNoWeight ? left / weight : kNever;
      }
    }
    rising_.erase(held, rising_.end());
  }
  for (auto const resource : used_) weights_[resource] = 0;
}

std::vector<bool> never_binding(std::vector<double> const& capacities, std::span<Sharing::Flow const> flows) {
  struct Known {
    bool is_used = false;
    std::vector<std::uint32_t> fuller;  // other resources of which no flow so far takes a smaller part
  };
  std::vector<Known> known(capacities.size());
  std::vector<double> part(capacities.size(), 0);  // of each capacity that one flow takes per unit
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
  auto const utilisation = max_utilisations(capacities, flows);
  std::vector<bool> never(capacities.size(), false);
  for (std::size_t resource = 0; resource < never.size(); ++resource)
    never[resource] = utilisation[resource] < 1 - kMinSpare ||
                      std::any_of(known[resource].fuller.begin(), known[resource].fuller.end(),
                                  [&](std::uint32_t other) { return !never[other]; });
  return never;
}

}  // namespace lanewise
