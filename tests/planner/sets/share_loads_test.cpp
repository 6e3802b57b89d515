// How long shares keep a machine busy.
#include "core/planner/sets/share_loads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/planner/sets/draft.hpp"
#include "tests/support/all_to_all.hpp"

namespace lanewise {
namespace {

// An all-to-all among GPUs below PCIe switches, each transfer divided over up to two of its options.
class LoadsOfShares : public testing::Test {
 protected:
  LoadsOfShares() {
    for (std::size_t i = 0; i < shares_.size(); ++i) {
      auto const moved = shares_[i][set_.default_option[i]] / 4;
      shares_[i][set_.default_option[i]] -= moved;
      shares_[i][random_() % shares_[i].size()] += moved;
    }
  }
  [[nodiscard]] std::vector<Shares> undivided_at(std::size_t transfer, std::size_t option) const {
    auto shares = shares_;
    std::fill(shares[transfer].begin(), shares[transfer].end(), 0.0);
    shares[transfer][option] = static_cast<double>(set_.transfers[transfer].bytes.value());
    return shares;
  }

  test::AllToAll planned_{"a100x8-pcie-4sw"};
  TransferSet const& set_ = planned_.set;
  std::mt19937 random_{1};
  std::vector<Shares> shares_ = default_shares(set_);
};

TEST_F(LoadsOfShares, AreNeverAboveARun) {
  ShareLoads const loads(set_, planned_.model, shares_);
  DraftEvaluator evaluator(set_, planned_.model);
  double closest = 0;
  for (std::size_t i = 0; i < set_.transfers.size(); ++i) {
    auto const option = random_() % set_.transfers[i].options.size();
    auto const run =
        evaluator.evaluate({.shares = undivided_at(i, option), .pieces_per_share = 1 + i % 4}).run.makespan;
    auto const busiest = loads.busiest_if_undivided(i, option);
    EXPECT_LE(busiest, run) << set_.transfers[i].id << " over option " << option;
    closest = std::max(closest, busiest / run);
  }
  EXPECT_GT(closest, 0.75);
}

TEST_F(LoadsOfShares, AreThoseOfTheSharesOnceUndivided) {
  ShareLoads loads(set_, planned_.model, shares_);
  loads.undivide(3, 1);
  ShareLoads const anew(set_, planned_.model, undivided_at(3, 1));
  for (std::size_t i = 0; i < set_.transfers.size(); ++i)
    EXPECT_NEAR(loads.busiest_if_undivided(i, 0).value(), anew.busiest_if_undivided(i, 0).value(), 1e-12);
  EXPECT_NEAR(loads.busiest_if_undivided(3, 1).value(), anew.busiest_if_undivided(3, 1).value(), 1e-12);
}

}  // namespace
}  // namespace lanewise
