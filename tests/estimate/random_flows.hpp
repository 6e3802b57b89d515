#pragma once
// Random flows, and whether their rates are max-min fair.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "core/estimate/sharing.hpp"

namespace lanewise {

// Random flows of up to six resources, some with caps.
class RandomFlows {
 public:
  RandomFlows(std::size_t count, std::size_t resources, bool alike) {
    for (std::size_t r = 0; r < resources; ++r)
      capacities_.push_back(alike ? 100 : 1 + static_cast<double>(random_() % 1000));
    uses_.resize(count);
    flows_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (auto left = 1 + random_() % 6; left > 0; --left)
        uses_[i].push_back({static_cast<std::uint32_t>(random_() % resources), 1 + static_cast<double>(random_() % 3)});
      flows_[i].uses = uses_[i];
      flows_[i].cap =
          random_() % 3 == 0 ? 1 + static_cast<double>(random_() % 40) : std::numeric_limits<double>::infinity();
    }
  }

  [[nodiscard]] std::vector<double> const& capacities() const { return capacities_; }
  [[nodiscard]] std::vector<Sharing::Flow>& flows() { return flows_; }
  [[nodiscard]] std::vector<Sharing::Flow*> pointers() {
    std::vector<Sharing::Flow*> all;
    for (auto& flow : flows_) all.push_back(&flow);
    return all;
  }
  std::mt19937& random() { return random_; }

  // Max-min: no capacity is exceeded, and each flow has its cap or uses a full resource on which none is faster.
  static void expect_max_min(std::vector<double> const& capacities, std::vector<Sharing::Flow*> const& flows) {
    std::vector<double> taken(capacities.size(), 0);
    std::vector<double> fastest(capacities.size(), 0);
    for (auto const* flow : flows)
      for (auto const& use : flow->uses) {
        taken[use.resource] += use.weight * flow->rate;
        fastest[use.resource] = std::max(fastest[use.resource], flow->rate);
      }
    for (std::size_t r = 0; r < taken.size(); ++r) EXPECT_LE(taken[r], capacities[r] * (1 + 1e-9));
    for (auto const* flow : flows)
      EXPECT_TRUE(flow->rate >= flow->cap * (1 - 1e-9) ||
                  std::any_of(flow->uses.begin(), flow->uses.end(), [&](auto const& use) {
                    return taken[use.resource] >= capacities[use.resource] * (1 - 1e-9) &&
                           flow->rate >= fastest[use.resource] * (1 - 1e-9);
                  }));
  }

 private:
  std::mt19937 random_{5};
  std::vector<double> capacities_;
  std::vector<std::vector<Sharing::Use>> uses_;
  std::vector<Sharing::Flow> flows_;
};

}  // namespace lanewise
