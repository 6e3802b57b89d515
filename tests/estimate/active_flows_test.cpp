#include "core/estimate/active_flows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "tests/estimate/random_flows.hpp"

namespace lanewise {
namespace {

TEST(ActiveFlows, GiveBackWhatAFlowHadThatEnded) {
  std::vector<double> const capacities{30, 100};
  std::vector<Sharing::Use> const narrow{{0, 1}, {1, 1}};
  std::vector<Sharing::Use> const wide{{1, 1}};
  std::vector<Sharing::Flow> flows{{narrow, 1e9}, {narrow, 1e9}, {wide, 1e9}};
  ActiveFlows active(capacities, flows);
  for (auto const flow : {0, 1, 2}) active.begin(static_cast<std::uint32_t>(flow));
  active.share();
  EXPECT_DOUBLE_EQ(flows[0].rate, 15);
  EXPECT_DOUBLE_EQ(flows[1].rate, 15);
  EXPECT_DOUBLE_EQ(flows[2].rate, 70);
  active.end(1);
  active.share();
  EXPECT_DOUBLE_EQ(flows[0].rate, 30);
  EXPECT_DOUBLE_EQ(flows[2].rate, 70);
  active.end(0);
  active.share();
  EXPECT_DOUBLE_EQ(flows[2].rate, 100);
}

class ChangingFlows : public testing::TestWithParam<std::tuple<std::size_t, std::size_t, bool>> {};

// Whatever begins and ends, rates are those of all flows that are under way shared anew.
TEST_P(ChangingFlows, HaveTheRatesOfAllSharedAnew) {
  auto const [count, resources, alike] = GetParam();
  constexpr std::size_t kOfAClass = 3;
  RandomFlows random(count, resources, alike);
  auto& classes = random.flows();
  ActiveFlows active(random.capacities(), classes);
  Sharing sharing(random.capacities());
  std::vector<std::uint32_t> waiting;
  for (std::uint32_t i = 0; i < count; ++i) waiting.insert(waiting.end(), kOfAClass, i);
  std::shuffle(waiting.begin(), waiting.end(), random.random());
  std::vector<std::uint32_t> running;
  while (!waiting.empty() || !running.empty()) {
    for (auto left = random.random()() % 4; left > 0 && !running.empty(); --left) {
      active.end(running.back());
      running.pop_back();
    }
    for (auto left = random.random()() % 6; left > 0 && !waiting.empty(); --left) {
      running.push_back(waiting.back());
      waiting.pop_back();
      active.begin(running.back());
    }
    active.share();
    std::shuffle(running.begin(), running.end(), random.random());
    std::vector<Sharing::Flow> flows;
    for (auto const flow_class : running) flows.push_back(classes[flow_class]);
    std::vector<Sharing::Flow*> all;
    for (auto& flow : flows) all.push_back(&flow);
    sharing.share(all);
    for (std::size_t i = 0; i < flows.size(); ++i)
      ASSERT_NEAR(classes[running[i]].rate, flows[i].rate, 1e-9 * flows[i].rate) << running.size() << " flows";
  }
}

class EndingFlows : public testing::TestWithParam<std::tuple<std::size_t, std::size_t, bool>> {};

TEST_P(EndingFlows, AreSharedMaxMinAfterSomeHaveEnded) {
  auto const [count, resources, alike] = GetParam();
  RandomFlows flows(count, resources, alike);
  ActiveFlows active(flows.capacities(), flows.flows());
  for (std::uint32_t i = 0; i < count; ++i) active.begin(i);
  active.share();
  auto running = flows.pointers();
  while (running.size() > count / 4) {
    for (auto left = std::min(running.size(), 1 + flows.random()() % 20); left > 0; --left) {
      auto const ended = running.begin() + static_cast<std::ptrdiff_t>(flows.random()() % running.size());
      active.end(static_cast<std::uint32_t>(*ended - flows.flows().data()));
      running.erase(ended);
    }
    active.share();
    RandomFlows::expect_max_min(flows.capacities(), running);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, EndingFlows,
                         testing::Values(std::tuple{20, 8, false}, std::tuple{240, 60, false},
                                         std::tuple{600, 150, false}, std::tuple{600, 150, true},
                                         std::tuple{1500, 40, false}, std::tuple{3000, 2000, false}));
INSTANTIATE_TEST_SUITE_P(Sizes, ChangingFlows,
                         testing::Values(std::tuple{20, 8, false}, std::tuple{240, 60, false},
                                         std::tuple{240, 60, true}, std::tuple{600, 900, false},
                                         std::tuple{600, 900, true}));

}  // namespace
}  // namespace lanewise
