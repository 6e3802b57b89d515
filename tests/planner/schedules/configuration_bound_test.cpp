// Branch and bound over configurations, against values computed by hand.
#include "core/planner/schedules/configuration_bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/solver/linear_program.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

// Options that hold one engine with two slots and share resource 0.
class SharedEngine : public testing::Test {
 protected:
  void SetUp() override {
    if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  }
  void add(double rate, double price) {
    PricedOption option{uses_, {}, rate, price};
    option.engines.push_back(EngineId(0));
    options_.push_back(option);
  }
  double most(double capacity) {
    std::vector<double> capacities(model_.resources().count(), 1000.0);
    capacities[0] = capacity;
    return max_reduced_value(options_, model_, capacities, 0);
  }

  Model model_{test::machine_of({.more_gpu = "copy_engines: 2"})};
  std::vector<Sharing::Use> uses_{{0, 1}};
  std::vector<PricedOption> options_;
};

TEST_F(SharedEngine, TakesTheMostValuableTwo) {
  ASSERT_EQ(model_.resources().at(EngineId(0)).slots, 2);
  add(10, 1);
  add(10, 3);
  add(10, 2);
  EXPECT_NEAR(most(100), 50, 1e-6);
}

// If engines were divisible, the expensive options would move 3.25 and the cheap one 3.75, worth 13.5. Two expensive
// ones move 4, worth 12; one of them beside the cheap one 2 and 5, worth 11.
TEST_F(SharedEngine, CountsWholeEngines) {
  add(10, 1);
  for (int option = 0; option < 3; ++option) add(2, 3);
  EXPECT_NEAR(most(7), 12, 1e-6);
}

// Against all choices of two options, of which the more expensive one gets as much of the capacity as it can use.
TEST_F(SharedEngine, IsTheMaximumOfAllChoices) {
  std::mt19937 random(5);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same options every time
  std::uniform_real_distribution<double> number(1, 10);
  for (int round = 0; round < 40; ++round) {
    options_.clear();
    for (int option = 0; option < 7; ++option) add(number(random), number(random));
    auto const capacity = number(random);
    double best = 0;
    for (auto const& one : options_)
      for (auto const& other : options_) {
        if (&one == &other || one.price < other.price) continue;
        auto const first = std::min(one.rate, capacity);
        best = std::max(best, one.price * first + other.price * std::min(other.rate, capacity - first));
      }
    auto const found = most(capacity);
    EXPECT_GE(found, best * (1 - 1e-9));
    EXPECT_LE(found, best * 1.0021);
  }
}

TEST_F(SharedEngine, IsAtLeastTheKnownWorth) {
  add(10, 1);
  std::vector<double> const capacities(model_.resources().count(), 1000.0);
  auto const found = max_reduced_value(options_, model_, capacities, 20);
  EXPECT_GE(found, 20);
  EXPECT_LE(found, 20 * 1.0021);
}

}  // namespace
}  // namespace lanewise
