#include "core/estimate/sharing.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <tuple>
#include <vector>

#include "tests/estimate/random_flows.hpp"

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

class ManyFlows : public testing::TestWithParam<std::tuple<std::size_t, std::size_t, bool>> {};

TEST_P(ManyFlows, AreSharedMaxMin) {
  auto const [count, resources, alike] = GetParam();
  RandomFlows flows(count, resources, alike);
  Sharing sharing(flows.capacities());
  auto const all = flows.pointers();
  sharing.share(all);
  RandomFlows::expect_max_min(flows.capacities(), all);
  sharing.share(all);  // now perhaps by a queue at once
  RandomFlows::expect_max_min(flows.capacities(), all);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ManyFlows,
                         testing::Values(std::tuple{20, 8, false}, std::tuple{240, 60, false},
                                         std::tuple{600, 150, false}, std::tuple{600, 150, true},
                                         std::tuple{1500, 40, false}, std::tuple{3000, 2000, false}));

}  // namespace
}  // namespace lanewise
