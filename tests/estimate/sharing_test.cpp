#include "core/estimate/sharing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

namespace lanewise {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

TEST(Sharing, GivesEqualRatesAndTheRestToFlowsThatCanUseIt) {
  Sharing sharing({30, 100});
  std::vector<Sharing::Use> const narrow{{0, 1}, {1, 1}};
  std::vector<Sharing::Use> const wide{{1, 1}};
  Sharing::Flow a{narrow, kNone};
  Sharing::Flow b{narrow, 5};
  Sharing::Flow c{wide, kNone};
  std::vector<Sharing::Flow*> flows{&a, &b, &c};
  sharing.share(flows);
  EXPECT_DOUBLE_EQ(b.rate, 5);   // its cap
  EXPECT_DOUBLE_EQ(a.rate, 25);  // what is left of 30
  EXPECT_DOUBLE_EQ(c.rate, 70);
}

TEST(Sharing, CountsWeights) {
  Sharing sharing({30});
  std::vector<Sharing::Use> const once{{0, 1}};
  std::vector<Sharing::Use> const twice{{0, 2}};
  Sharing::Flow a{once, kNone};
  Sharing::Flow b{twice, kNone};
  std::vector<Sharing::Flow*> flows{&a, &b};
  sharing.share(flows);
  EXPECT_DOUBLE_EQ(a.rate, 10);
  EXPECT_DOUBLE_EQ(b.rate, 10);
}

// 0 is never full before 1, which has the same capacity and one flow more. 2 and 3 are alike. 4 has two flows that
// share nothing else. No flow uses 5.
TEST(Sharing, IsTheSameWithoutResourcesThatNeverBind) {
  std::vector<double> const capacities{30, 30, 50, 100, 40, 10};
  std::vector<std::vector<Sharing::Use>> uses{
      {{0, 1}, {1, 1}, {4, 1}}, {{1, 1}, {2, 1}, {3, 2}}, {{4, 1}, {2, 2}, {3, 4}}};
  std::vector<Sharing::Flow> flows;
  for (auto const& of_flow : uses) flows.push_back({of_flow, kNone});
  auto const never = never_binding(capacities, flows);
  EXPECT_EQ(never, (std::vector<bool>{true, false, true, false, false, true}));
  auto const rates = [&] {
    Sharing sharing(capacities);
    std::vector<Sharing::Flow*> all;
    for (auto& flow : flows) all.push_back(&flow);
    sharing.share(all);
    std::vector<double> result;
    for (auto const& flow : flows) result.push_back(flow.rate);
    return result;
  };
  auto const before = rates();
  for (std::size_t i = 0; i < uses.size(); ++i) {
    std::erase_if(uses[i], [&](Sharing::Use const& use) { return never[use.resource]; });
    flows[i].uses = uses[i];
  }
  auto const after = rates();
  for (std::size_t i = 0; i < uses.size(); ++i) EXPECT_DOUBLE_EQ(before[i], after[i]) << i;
}

// The flows take at most 30 and 20 of the first resource.
TEST(Sharing, IsNeverBoundByWhatAllFlowsTogetherDoNotFill) {
  std::vector<std::vector<Sharing::Use>> const uses{{{0, 1}, {1, 1}}, {{0, 1}, {2, 1}}};
  std::vector<Sharing::Flow> const flows{{uses[0], kNone}, {uses[1], kNone}};
  EXPECT_EQ(never_binding({60, 30, 20}, flows), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(never_binding({50, 30, 20}, flows), (std::vector<bool>{false, false, false}));
}

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
      flows_[i].cap = random_() % 3 == 0 ? 1 + static_cast<double>(random_() % 40) : kNone;
      all_.push_back(&flows_[i]);
    }
  }

  [[nodiscard]] std::vector<double> const& capacities() const { return capacities_; }
  [[nodiscard]] std::vector<Sharing::Flow*>& flows() { return all_; }
  std::mt19937& random() { return random_; }

  // Max-min: no capacity is exceeded, and each flow has its cap or uses a full resource on which none is faster.
  void expect_max_min() const {
    std::vector<double> taken(capacities_.size(), 0);
    std::vector<double> fastest(capacities_.size(), 0);
    for (auto const* flow : all_)
      for (auto const& use : flow->uses) {
        taken[use.resource] += use.weight * flow->rate;
        fastest[use.resource] = std::max(fastest[use.resource], flow->rate);
      }
    for (std::size_t r = 0; r < taken.size(); ++r) EXPECT_LE(taken[r], capacities_[r] * (1 + 1e-9));
    for (auto const* flow : all_)
      EXPECT_TRUE(flow->rate >= flow->cap * (1 - 1e-9) ||
                  std::any_of(flow->uses.begin(), flow->uses.end(), [&](auto const& use) {
                    return taken[use.resource] >= capacities_[use.resource] * (1 - 1e-9) &&
                           flow->rate >= fastest[use.resource] * (1 - 1e-9);
                  }));
  }

 private:
  std::mt19937 random_{5};
  std::vector<double> capacities_;
  std::vector<std::vector<Sharing::Use>> uses_;
  std::vector<Sharing::Flow> flows_;
  std::vector<Sharing::Flow*> all_;
};

class ManyFlows : public testing::TestWithParam<std::tuple<std::size_t, std::size_t, bool>> {};

TEST_P(ManyFlows, AreSharedMaxMin) {
  auto const [count, resources, alike] = GetParam();
  RandomFlows flows(count, resources, alike);
  Sharing sharing(flows.capacities());
  sharing.share(flows.flows());
  flows.expect_max_min();
}

TEST_P(ManyFlows, AreSharedMaxMinAfterSomeHaveEnded) {
  auto const [count, resources, alike] = GetParam();
  RandomFlows flows(count, resources, alike);
  auto& running = flows.flows();
  Sharing sharing(flows.capacities());
  sharing.share(running);
  while (running.size() > count / 4) {
    auto lowest = kNone;
    for (auto left = std::min(running.size(), 1 + flows.random()() % 20); left > 0; --left) {
      auto const ended = running.begin() + static_cast<std::ptrdiff_t>(flows.random()() % running.size());
      lowest = std::min(lowest, (*ended)->rate);
      running.erase(ended);
    }
    sharing.share(running, lowest);
    flows.expect_max_min();
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ManyFlows,
                         testing::Values(std::tuple{20, 8, false}, std::tuple{240, 60, false},
                                         std::tuple{600, 150, false}, std::tuple{600, 150, true},
                                         std::tuple{1500, 40, false}, std::tuple{3000, 2000, false}));

}  // namespace
}  // namespace lanewise
