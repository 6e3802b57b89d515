#include "core/text/percent.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace lanewise {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(PercentText, NeverShowsInfinitiesOrWhatIsNoNumber) {
  EXPECT_EQ(percent_text(0.1234), "12.3 %");
  EXPECT_EQ(percent_text(-0.5, 0), "-50 %");
  EXPECT_EQ(percent_text(kNan), "-");
  EXPECT_EQ(percent_text(kInfinity), "> 1000000 %");
  EXPECT_EQ(percent_text(-kInfinity), "< -1000000 %");
  EXPECT_EQ(percent_text(1e300), "> 1000000 %");
}

TEST(DifferenceText, HasASign) {
  EXPECT_EQ(difference_text(0.12), "+12 %");
  EXPECT_EQ(difference_text(-0.12), "-12 %");
  EXPECT_EQ(difference_text(0), "+0 %");
  EXPECT_EQ(difference_text(kInfinity), "> 1000000 %");
  EXPECT_EQ(difference_text(kNan), "-");
}

}  // namespace
}  // namespace lanewise
