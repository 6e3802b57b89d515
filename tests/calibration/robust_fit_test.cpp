#include "core/calibration/robust_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace lanewise::test {
namespace {

TEST(DenseMatrix, IsSolvedAndInverted) {
  DenseMatrix matrix(2);
  matrix(0, 0) = 4;
  matrix(0, 1) = matrix(1, 0) = 2;
  matrix(1, 1) = 3;
  auto const x = solved(matrix, {10, 9});  // 4a + 2b = 10, 2a + 3b = 9
  EXPECT_NEAR(x[0], 1.5, 1e-12);
  EXPECT_NEAR(x[1], 2.0, 1e-12);
  auto const inverted = inverse(matrix);
  EXPECT_NEAR(inverted(0, 0), 3.0 / 8, 1e-12);
  EXPECT_NEAR(inverted(0, 1), -2.0 / 8, 1e-12);
  EXPECT_NEAR(inverted(1, 1), 4.0 / 8, 1e-12);
}

// time = start + bytes / rate, with a figure that nothing hangs on.
FitProblem line(double start, double rate, double noise, int outliers) {
  FitProblem problem;
  problem.parameters = {{std::log(2.0), 1, 99}, {std::log(10.0), 1, 99}, {std::log(5.0), 1, 99}};
  std::vector<double> sizes;
  for (double size = 1; size < 1e4; size *= 1.2) sizes.push_back(size);
  problem.predict = [sizes](std::vector<double> const& at) {
    std::vector<double> logs;
    for (auto const size : sizes) logs.push_back(std::log(std::exp(at[0]) + size / std::exp(at[1])));
    return logs;
  };
  auto const truth = problem.predict({std::log(start), std::log(rate), 0});
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    bool const outlier = i % 7 == 3 && outliers-- > 0;
    problem.data.push_back({truth[i] + noise * normal(random) + (outlier ? 1.5 : 0), 0, i});
  }
  return problem;
}

TEST(RobustFit, TellsTheStartFromTheRateDespiteOutliers) {
  auto const result = robust_fit(line(3, 7, 0.01, 6));
  EXPECT_NEAR(std::exp(result.at[0]), 3, 3 * 0.01);
  EXPECT_NEAR(std::exp(result.at[1]), 7, 7 * 0.01);
  EXPECT_GT(result.known[0], 0.99);
  EXPECT_NEAR(result.scale, 0.01, 0.005);
  EXPECT_LT(result.deviation[1], 0.005);
  EXPECT_EQ(result.weights[3], 0);
}

TEST(RobustFit, WhatNothingHangsOnStaysWhereItWas) {
  auto const result = robust_fit(line(3, 7, 0.01, 0));
  EXPECT_NEAR(result.at[2], std::log(5.0), 1e-9);
  EXPECT_NEAR(result.known[2], 0, 1e-9);
  EXPECT_NEAR(result.deviation[2], 1, 1e-9);
}

TEST(RobustFit, WhatOnlyWorksTogetherMovesTogether) {
  FitProblem problem;
  problem.parameters = {{0, 0.5, 99}, {0, 0.5, 99}};
  problem.predict = [](std::vector<double> const& at) { return std::vector<double>(20, at[0] + at[1]); };
  for (std::size_t i = 0; i < 20; ++i) problem.data.push_back({0.2 + (i % 2 == 0 ? 0.004 : -0.004), 0, i});
  auto const result = robust_fit(problem);
  EXPECT_NEAR(result.at[0] + result.at[1], 0.2, 1e-3);
  EXPECT_NEAR(result.at[0], result.at[1], 1e-6);
  EXPECT_LT(result.known[0], 0.6);
  EXPECT_LT(result.covariance(0, 1), 0);
}

TEST(RobustFit, NothingExceedsItsMost) {
  auto problem = line(3, 7, 0.0, 0);
  problem.parameters[1].upper_limit = std::log(6.0);
  problem.parameters[1].start = std::log(5.0);
  EXPECT_LE(robust_fit(problem).at[1], std::log(6.0));
}

TEST(RobustFit, AWideSpreadWeighsLess) {
  FitProblem problem;
  problem.parameters = {{0, 10, 99}};
  problem.predict = [](std::vector<double> const& at) { return std::vector<double>(4, at[0]); };
  problem.data = {{0.10, 0.001, 0}, {0.101, 0.001, 1}, {0.0995, 0.001, 2}, {0.12, 0.5, 3}};
  EXPECT_NEAR(robust_fit(problem).at[0], 0.1, 0.001);
}

}  // namespace
}  // namespace lanewise::test
