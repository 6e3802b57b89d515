// Which ways are worth most side by side: rates are those of sharing, engines suffice, and small sets are solved.
#include "core/planner/schedules/pricing_problem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/machine/catalogue.hpp"
#include "core/planner/bounds/configuration_bound.hpp"
#include "core/planner/planner.hpp"
#include "core/solver/linear_program.hpp"

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

  void expect_sound(PricingProblem& search, Configuration const& found) const {
    EXPECT_TRUE(std::is_sorted(found.lanes.begin(), found.lanes.end()));
    std::map<EngineId, int> held;
    for (auto const lane : found.lanes)
      for (auto const engine : search.lanes()[lane].engines)
        EXPECT_LE(++held[engine], model_.resources().at(engine).slots);
    auto again = found;
    search.share(again);
    for (std::size_t k = 0; k < found.lanes.size(); ++k)
      EXPECT_NEAR(found.rates[k], again.rates[k], 1e-9 * again.rates[k]);
  }

  Model model_;
  TransferSet set_;
  std::vector<double> prices_;
};

// Though only the rates of what changes are shared anew.
TEST_F(SearchOnMesh, GivesTheRatesOfSharing) {
  PricingProblem search(set_, model_);
  std::vector<Configuration> others;
  auto const best = search.solve(prices_, others);
  ASSERT_FALSE(best.lanes.empty() || others.empty());
  expect_sound(search, best);
  for (auto const& other : others) {
    expect_sound(search, other);
    EXPECT_LE(search.worth_of(other, prices_), search.worth_of(best, prices_) * (1 + 1e-9));
    EXPECT_GE(search.worth_of(other, prices_), search.worth_of(best, prices_) * 0.7);
  }
}

TEST_F(SearchOnMesh, CountsWithTheSpeedsThatItIsTold) {
  PricingProblem search(set_, model_);
  std::vector<Configuration> others;
  auto const before = search.worth_of(search.solve(prices_, others), prices_);
  for (std::uint32_t lane = 0; lane < search.lanes().size(); ++lane)
    search.set_speed(lane, search.lanes()[lane].rate / 100, 0);  // nothing is full any more
  auto const slow = search.solve(prices_, others);
  ASSERT_FALSE(slow.lanes.empty());
  EXPECT_LT(search.worth_of(slow, prices_), before / 20);
  EXPECT_GE(search.worth_of(slow, prices_), before / 100 * (1 - 1e-9));
  for (std::size_t k = 0; k < slow.lanes.size(); ++k)
    EXPECT_NEAR(slow.rates[k], search.lanes()[slow.lanes[k]].rate, 1e-9);
}

TEST_F(SearchOnMesh, FindsNothingWhereNothingIsWorthAnything) {
  PricingProblem search(set_, model_);
  std::vector<Configuration> others;
  EXPECT_TRUE(search.solve(std::vector<double>(prices_.size(), 0), others).lanes.empty());
  EXPECT_TRUE(others.empty());
}

// What no lanes beat, by branch and bound, of few transfers.
TEST_F(SearchOnMesh, ComesToTheMostThereIs) {
  if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  set_.transfers.resize(4);
  PricingProblem search(set_, model_);
  std::vector<Configuration> others;
  auto const worth = search.worth_of(search.solve(prices_, others), prices_);
  std::vector<PricedOption> lanes;
  for (std::size_t lane = 0; lane < search.lanes().size(); ++lane) {
    auto const& of_search = search.lanes()[lane];
    lanes.push_back({search.uses(lane), of_search.engines, of_search.rate, prices_[of_search.transfer]});
  }
  auto const most = max_reduced_value(lanes, model_, search.capacities(), /*known=*/0);
  EXPECT_LE(worth, most * (1 + 1e-6));
  EXPECT_GE(worth, most * 0.97);  // which may share otherwise than fairly
}

}  // namespace
}  // namespace lanewise
