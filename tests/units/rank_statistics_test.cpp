// Tests intervals from ranks against published tables and against how often they hold what they promise.
#include "lanewise/units/rank_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace lanewise {
namespace {

TEST(RankStatistics, MedianIntervalIsOfTheSamplesOwnValues) {
  // Binomial(7, 1/2): 2 x 1/128 = 1.6 % outside the extremes, 2 x 8/128 = 12.5 % outside the second values.
  std::vector<double> const seven{7, 1, 3, 2, 6, 5, 4};
  EXPECT_EQ(median_interval(seven, 0.05), (ConfidenceInterval{1, 7}));
  EXPECT_EQ(median_interval(seven, 0.13), (ConfidenceInterval{2, 6}));
  // 2 x 1/32 = 6.25 %: five values have no 95 % interval.
  EXPECT_FALSE(median_interval({1, 2, 3, 4, 5}, 0.05).is_bounded());
  EXPECT_FALSE(median_interval({}, 0.05).is_bounded());
}

TEST(RankStatistics, SignedRankIntervalHasTheRanksOfTheTable) {
  // Hollander, Wolfe and Chicken, table A.4: for n = 10 P(T+ <= 8) = 0.024, P(T+ <= 9) = 0.032, so the 95 % interval
  // goes from the 9th of the 55 averages to the 47th.
  std::vector<double> sample;
  std::vector<double> averages;
  for (int i = 0; i < 10; ++i) sample.push_back(1 << i);  // all averages differ
  for (int i = 0; i < 10; ++i)
    for (int k = i; k < 10; ++k) averages.push_back((sample[i] + sample[k]) / 2);
  std::sort(averages.begin(), averages.end());
  EXPECT_EQ(signed_rank_interval(sample, 0.05), (ConfidenceInterval{averages[8], averages[46]}));
  EXPECT_DOUBLE_EQ(pseudo_median(sample), averages[27]);
}

TEST(RankStatistics, SmallestSampleIsTheFirstWithAnInterval) {
  for (double const level : {0.05, 0.01, 0.05 / 40, 1e-6}) {
    auto const smallest = min_signed_rank_sample(level);
    std::vector<double> sample;
    for (std::size_t i = 0; i + 1 < smallest; ++i) sample.push_back(static_cast<double>(i));
    EXPECT_FALSE(signed_rank_interval(sample, level).is_bounded()) << level;
    sample.push_back(100);
    EXPECT_TRUE(signed_rank_interval(sample, level).is_bounded()) << level;
  }
}

TEST(RankStatistics, NormalApproximationGoesOnWhereTheExactOneEnds) {
  std::vector<double> sample;
  for (int i = 0; i < 60; ++i) sample.push_back(i);
  auto const exact = signed_rank_interval(sample, 0.05);
  sample.push_back(29.5);  // 61 values
  auto const normal = signed_rank_interval(sample, 0.05);
  EXPECT_NEAR(exact.low, normal.low, 0.5);  // the averages are half a unit apart
  EXPECT_NEAR(exact.high, normal.high, 0.5);
}

// Heavy tails, as times on a shared host have them: most runs alike, one in five up to 15 % slower.
double shared_host(std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal(0, 0.01);
  return normal(random) + (uniform(random) < 0.2 ? 0.15 * uniform(random) : 0);
}

TEST(RankStatistics, IntervalsHoldWhatTheyPromise) {
  std::mt19937 random(7);
  int outside_median = 0;
  int outside_centre = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> sample;
    std::vector<double> differences;  // of two runs that are alike: symmetric about 0
    for (int i = 0; i < 15; ++i) {
      sample.push_back(std::normal_distribution<double>()(random));
      differences.push_back(shared_host(random) - shared_host(random));
    }
    auto const of_median = median_interval(sample, 0.05);
    auto const of_centre = signed_rank_interval(differences, 0.05);
    outside_median += of_median.low > 0 || of_median.high < 0 ? 1 : 0;
    outside_centre += of_centre.low > 0 || of_centre.high < 0 ? 1 : 0;
  }
  // Four standard errors of a share of 5 % among 4,000 are 1.4 %.
  EXPECT_LT(outside_median, kTrials * 0.064);
  EXPECT_LT(outside_centre, kTrials * 0.064);
  EXPECT_GT(outside_centre, kTrials * 0.03);  // no wider than needed
}

}  // namespace
}  // namespace lanewise
