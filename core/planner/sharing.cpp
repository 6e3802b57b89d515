#include "core/planner/sharing.hpp"

#include <algorithm>
#include <limits>

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

}  // namespace lanewise
