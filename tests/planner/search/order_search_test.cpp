// The search for the order in which the transfers of a draft begin.
#include "core/planner/search/order_search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/planner/search_limits.hpp"
#include "core/planner/sets/load_balance.hpp"
#include "tests/support/all_to_all.hpp"

namespace lanewise {
namespace {

// An all-to-all among GPUs below PCIe switches, whose links several transfers want at a time.
class OrderSearch : public testing::Test {
 protected:
  [[nodiscard]] Draft draft(std::size_t pieces_per_share) const {
    return {.shares = default_shares(set_),
            .max_utilisation = kSearchLimits.two_or_three,
            .priority = Priority::BottleneckFirst,
            .pieces_per_share = pieces_per_share};
  }
  [[nodiscard]] TriedDraft tried(Draft draft) const {
    auto const value = rating_.rate(draft).value;
    return {value, std::move(draft)};
  }

  test::AllToAll planned_{"a100x8-pcie-4sw"};
  Model const& model_ = planned_.model;
  TransferSet const& set_ = planned_.set;
  DraftEvaluator evaluator_{set_, model_};
  Rating rating_{set_, model_, Objective::Makespan, evaluator_};
};

TEST_F(OrderSearch, ShortensADraftByItsOrderAlone) {
  auto const start = tried(draft(1));
  auto const found = search_orders({start}, set_, rating_, 0);
  EXPECT_LT(found.value, 0.97 * start.value);
  EXPECT_EQ(found.draft.shares, start.draft.shares);
  EXPECT_THAT(found.draft.tie_break, testing::UnorderedElementsAreArray(set_.tie_break));
  EXPECT_NE(found.draft.tie_break, set_.tie_break);
  EXPECT_EQ(rating_.rate(found.draft).value, found.value);
  EXPECT_EQ(found.evaluation.run.makespan.value(), found.value);
}

TEST_F(OrderSearch, FindsTheSameEachTime) {
  std::vector<TriedDraft> const starts{tried(draft(1)), tried(draft(2))};
  EXPECT_EQ(search_orders(starts, set_, rating_, 0).value, search_orders(starts, set_, rating_, 0).value);
}

TEST_F(OrderSearch, EndsAtAGoodEnoughDraft) {
  std::vector<TriedDraft> const starts{tried(draft(1)), tried(draft(2))};
  auto const best = search_orders(starts, set_, rating_, 0);
  auto const found = search_orders(starts, set_, rating_, 0.999 * starts[0].value);
  EXPECT_LE(found.value, 0.999 * starts[0].value);
  EXPECT_GT(found.value, best.value);
}

TEST_F(OrderSearch, HasNoResultWithoutAGain) {
  EXPECT_TRUE(search_orders({}, set_, rating_, 0).evaluation.steps.empty());
  TriedDraft const unbeatable{0, draft(1)};
  EXPECT_TRUE(search_orders({unbeatable}, set_, rating_, 0).evaluation.steps.empty());
}

}  // namespace
}  // namespace lanewise
