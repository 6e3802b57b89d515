// Drafts of a set: what their steps need, and the order that admission gives them.
#include "core/planner/sets/draft.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/estimate/demands.hpp"
#include "core/planner/search_limits.hpp"
#include "tests/support/all_to_all.hpp"

namespace lanewise {
namespace {

// An all-to-all among GPUs below PCIe switches, whose transfers can be divided.
class Drafts : public testing::Test {
 protected:
  // Each transfer divided at random over two of its options.
  Draft random_draft() {
    Draft draft{.shares = default_shares(set_), .max_utilisation = kSearchLimits.two_or_three, .pieces_per_share = 2};
    for (std::size_t i = 0; i < draft.shares.size(); ++i) {
      auto& shares = draft.shares[i];
      auto const moved = static_cast<double>(random_() % (48 << 20));
      shares[set_.default_option[i]] -= moved;
      shares[random_() % shares.size()] += moved;
    }
    return draft;
  }

  test::AllToAll planned_{"a100x8-pcie-4sw"};
  Model const& model_ = planned_.model;
  TransferSet const& set_ = planned_.set;
  std::mt19937 random_{1};
};

// More pieces than an evaluator keeps.
TEST_F(Drafts, HaveTheDemandsOfTheirSteps) {
  DraftEvaluator evaluator(set_, model_);
  std::size_t pieces = 0;
  for (int n = 0; n < 100; ++n) {
    auto const steps = evaluator.steps_of(random_draft());
    auto const demands = demands_of(model_, steps.evaluation.steps);
    pieces += demands.size();
    ASSERT_EQ(steps.demands.size(), demands.size());
    for (std::size_t k = 0; k < demands.size(); ++k) {
      auto const& demand = steps.demands[k];
      EXPECT_EQ(demand.cap, demands[k].cap);
      EXPECT_EQ(demand.latency(), demands[k].latency());
      EXPECT_EQ(demand.chunk, demands[k].chunk);
      EXPECT_TRUE(std::equal(demand.uses.begin(), demand.uses.end(), demands[k].uses.begin(), demands[k].uses.end()));
    }
  }
  EXPECT_GT(pieces, 10'000U);
}

TEST_F(Drafts, TakeAsLongByTheOrderOfTheirSteps) {
  DraftEvaluator evaluator(set_, model_);
  for (int n = 0; n < 5; ++n) {
    auto evaluation = evaluator.evaluate(random_draft());
    EXPECT_FALSE(evaluation.order.empty());
    add_order(evaluation.steps, evaluation.order);
    EXPECT_NEAR(estimate(model_, evaluation.steps).makespan / evaluation.run.makespan, 1, 1e-6);
  }
}

}  // namespace
}  // namespace lanewise
