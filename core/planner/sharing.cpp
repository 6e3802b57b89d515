#include "core/planner/sharing.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace lanewise {
namespace {

// Rates this close are one: what rounding leaves between equal quotients.
constexpr double kEqual = 1 + 1e-12;

}  // namespace

void Sharing::share(std::span<Flow*> flows) {
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
  while (!rising_.empty()) {
    double level = std::numeric_limits<double>::infinity();
    for (auto const resource : used_)
      if (weights_[resource] > 0) level = std::min(level, left_[resource] / weights_[resource]);
    for (auto const* flow : rising_) level = std::min(level, flow->cap);
    auto const full = [&](Use const& use) { return left_[use.resource] <= level * kEqual * weights_[use.resource]; };
    // Who is held is decided before anyone is taken out.
    auto const held = std::partition(rising_.begin(), rising_.end(), [&](Flow const* flow) {
      return flow->cap > level * kEqual && std::none_of(flow->uses.begin(), flow->uses.end(), full);
    });
    for (auto it = held; it != rising_.end(); ++it) {
      (*it)->rate = level;
      for (auto const& use : (*it)->uses) {
        left_[use.resource] = std::max(0.0, left_[use.resource] - level * use.weight);
        weights_[use.resource] -= use.weight;
      }
    }
    rising_.erase(held, rising_.end());
    // A sum of weights that went up and down again leaves a rest of rounding where nobody rises any more.
    std::erase_if(used_, [&](std::uint32_t resource) {
      if (weights_[resource] > 1e-9) return false;
      weights_[resource] = 0;
      return true;
    });
  }
  for (auto const resource : used_) weights_[resource] = 0;
}

std::vector<bool> never_full_first(std::vector<double> const& capacities, std::span<Sharing::Flow const> flows) {
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
  std::vector<bool> never(capacities.size(), false);
  for (std::size_t resource = 0; resource < never.size(); ++resource)
    never[resource] = std::any_of(known[resource].fuller.begin(), known[resource].fuller.end(),
                                  [&](std::uint32_t other) { return !never[other]; });
  return never;
}

}  // namespace lanewise
