// The linear solver: known optima, with and without a basis to start from.
#include "core/solver/linear_program.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace lanewise {
namespace {

class Solver : public testing::Test {
 protected:
  void SetUp() override {
    if (!linear_solver()) GTEST_SKIP() << "no linear solver";
  }
};

// At least `wanted` of two things, from mixtures that cost 1 each and contain these amounts of them.
LinearProgram mixing(std::vector<std::pair<double, double>> const& mixtures, double wanted) {
  LinearProgram program;
  program.add_row({.lower = wanted});
  program.add_row({.lower = wanted});
  for (auto const& [one, other] : mixtures) {
    program.entries.push_back({0, one});
    program.entries.push_back({1, other});
    program.end_column(1);
  }
  return program;
}

TEST_F(Solver, ReturnsTheBasis) {
  auto const solution = solve(mixing({{2, 0}, {0, 4}, {1, 1}}, 8));
  ASSERT_TRUE(solution);
  EXPECT_NEAR(solution->x[0], 4, 1e-9);
  EXPECT_NEAR(solution->x[1], 2, 1e-9);
  EXPECT_NEAR(solution->duals[0], 0.5, 1e-9);
  EXPECT_NEAR(solution->duals[1], 0.25, 1e-9);
  EXPECT_EQ(solution->basis.columns,
            (std::vector<BasisStatus>{BasisStatus::Basic, BasisStatus::Basic, BasisStatus::AtLower}));
  EXPECT_EQ(solution->basis.rows, (std::vector<BasisStatus>{BasisStatus::AtLower, BasisStatus::AtLower}));
}

// A column is added and the bounds change, so the old basis is not optimal any more, or not even feasible.
TEST_F(Solver, FindsTheSameOptimumFromAnyBasis) {
  std::mt19937 random(3);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same programs every time
  std::uniform_real_distribution<double> number(0, 4);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::pair<double, double>> mixtures{{1, 0}, {0, 1}};
    for (int more = 0; more < 6; ++more) mixtures.emplace_back(number(random), number(random));
    auto const first = solve(mixing(mixtures, 8));
    ASSERT_TRUE(first);
    mixtures.emplace_back(number(random), number(random));
    mixtures.front().first = number(random);
    auto from = first->basis;
    from.columns.push_back(BasisStatus::AtLower);
    auto const program = mixing(mixtures, 5);
    auto const afresh = solve(program);
    auto const further = solve(program, from);
    ASSERT_TRUE(afresh && further);
    for (std::size_t row = 0; row < 2; ++row) EXPECT_NEAR(afresh->duals[row], further->duals[row], 1e-7) << round;
    double cost = 0;
    for (std::size_t k = 0; k < mixtures.size(); ++k) cost += afresh->x[k] - further->x[k];
    EXPECT_NEAR(cost, 0, 1e-7) << round;
  }
}

TEST_F(Solver, RepairsABasis) {
  auto const program = mixing({{2, 0}, {0, 4}, {1, 1}}, 8);
  for (auto const status : {BasisStatus::AtLower, BasisStatus::Basic}) {  // too few basic ones, and too many
    auto const solution = solve(program, {std::vector<BasisStatus>(3, status), std::vector<BasisStatus>(2, status)});
    ASSERT_TRUE(solution);
    EXPECT_NEAR(solution->x[0] + solution->x[1] + solution->x[2], 6, 1e-9);
  }
}

TEST_F(Solver, IgnoresABasisOfAnotherSize) {
  auto const small = solve(mixing({{1, 1}}, 3));
  ASSERT_TRUE(small);
  auto const solution = solve(mixing({{2, 0}, {0, 4}, {1, 1}}, 8), small->basis);
  ASSERT_TRUE(solution);
  EXPECT_NEAR(solution->x[0] + solution->x[1], 6, 1e-9);
}

TEST_F(Solver, KeepsColumnsWithinTheirUpperBounds) {
  auto program = mixing({{2, 0}, {0, 4}, {1, 1}}, 8);
  program.upper[0] = 1;
  auto const solution = solve(program);
  ASSERT_TRUE(solution);
  EXPECT_NEAR(solution->x[0], 1, 1e-9);
  EXPECT_NEAR(solution->x[2], 6, 1e-9);
  EXPECT_EQ(solution->basis.columns[0], BasisStatus::AtUpper);
}

TEST_F(Solver, ReturnsNothingIfInfeasible) {
  EXPECT_FALSE(solve(mixing({{1, 0}}, 1)));  // no mixture contains the second thing
}

}  // namespace
}  // namespace lanewise
