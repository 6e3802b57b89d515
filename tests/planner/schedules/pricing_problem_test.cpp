// The pricing problem: rates are those of sharing, engines suffice, and small sets are solved to near the optimum.
#include "core/planner/schedules/pricing_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/planner/schedules/configuration_bound.hpp"
#include "core/solver/linear_program.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {
namespace {

using namespace literals;

class SearchOnMesh : public testing::Test {
 protected:
  SearchOnMesh() : model_(Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine("dgx-1-v100")) {
    auto const gpus = model_.machine().all(PciKind::Gpu);
    std::vector<Request> requests;
    for (auto const from : gpus)
      for (auto const to : gpus)
        if (from != to)
          requests.push_back({.id = std::to_string(requests.size()), .from = from, .to = to, .bytes = 64_MiB});
    set_ = transfer_set(Planner(model_).plan(requests), model_);
    for (std::size_t i = 0; i < requests.size(); ++i) prices_.push_back(1 + std::sin(static_cast<double>(i)) / 2);
  }

  void expect_sound(CandidateFlows& flows, Configuration const& found) const {
    EXPECT_TRUE(std::is_sorted(found.flows.begin(), found.flows.end()));
    std::map<EngineId, int> used;
    for (auto const flow : found.flows)
      for (auto const engine : flows[flow].engines) EXPECT_LE(++used[engine], model_.resources().at(engine).slots);
    auto shared = found;
    flows.share(shared);
    for (std::size_t k = 0; k < found.flows.size(); ++k)
      EXPECT_NEAR(found.rates[k], shared.rates[k], 1e-9 * shared.rates[k]);
  }

  Model model_;
  TransferSet set_;
  std::vector<double> prices_;
};

// Though the search computes only the rates of affected flows anew.
TEST_F(SearchOnMesh, GivesTheRatesOfSharing) {
  CandidateFlows flows(set_, model_);
  PricingProblem pricing(flows);
  std::vector<Configuration> others;
  auto const best = pricing.solve(prices_, others, 25);
  ASSERT_FALSE(best.flows.empty() || others.empty());
  expect_sound(flows, best);
  for (auto const& other : others) {
    expect_sound(flows, other);
    EXPECT_LE(flows.value_of(other, prices_), flows.value_of(best, prices_) * (1 + 1e-9));
    EXPECT_GE(flows.value_of(other, prices_), flows.value_of(best, prices_) * 0.7);
  }
}

TEST_F(SearchOnMesh, CountsWithTheSpeedsThatItIsTold) {
  CandidateFlows flows(set_, model_);
  PricingProblem pricing(flows);
  std::vector<Configuration> others;
  auto const before = flows.value_of(pricing.solve(prices_, others, 25), prices_);
  for (std::uint32_t flow = 0; flow < flows.size(); ++flow)
    flows.set_speed(flow, flows[flow].rate / 100, 0);  // no resource is saturated any more
  auto const slow = pricing.solve(prices_, others, 25);
  ASSERT_FALSE(slow.flows.empty());
  EXPECT_LT(flows.value_of(slow, prices_), before / 20);
  EXPECT_GE(flows.value_of(slow, prices_), before / 100 * (1 - 1e-9));
  for (std::size_t k = 0; k < slow.flows.size(); ++k) EXPECT_NEAR(slow.rates[k], flows[slow.flows[k]].rate, 1e-9);
}

TEST_F(SearchOnMesh, FindsNothingWhereNothingHasAValue) {
  CandidateFlows flows(set_, model_);
  PricingProblem pricing(flows);
  std::vector<Configuration> others;
  EXPECT_TRUE(pricing.solve(std::vector<double>(prices_.size(), 0), others, 25).flows.empty());
  EXPECT_TRUE(others.empty());
}

// The highest value of any flows, by branch and bound, for few transfers.
TEST_F(SearchOnMesh, ComesCloseToTheHighestValue) {
  if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  set_.transfers.resize(4);
  CandidateFlows flows(set_, model_);
  PricingProblem pricing(flows);
  std::vector<Configuration> others;
  auto const value = flows.value_of(pricing.solve(prices_, others, 25), prices_);
  std::vector<PricedOption> options;
  for (std::size_t flow = 0; flow < flows.size(); ++flow)
    options.push_back({flows.uses(flow), flows[flow].engines, flows[flow].rate, prices_[flows[flow].transfer]});
  auto const most = max_reduced_value(options, model_, flows.capacities(), /*known=*/0);
  EXPECT_LE(value, most * (1 + 1e-6));
  EXPECT_GE(value, most * 0.97);  // the bound may share otherwise than max-min fairly
}

}  // namespace
}  // namespace lanewise
