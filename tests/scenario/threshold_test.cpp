#include "lanewise/scenario/threshold.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lanewise {
namespace {

using testing::HasSubstr;

Threshold threshold(std::string const& text, Dimension figure = Dimension::Rate) {
  auto const parsed = parse_threshold(text, figure);
  EXPECT_TRUE(parsed.value.has_value()) << text << ": " << parsed.problem;
  return parsed.value.value_or(Threshold{});
}

std::string problem(std::string const& text, Dimension figure = Dimension::Rate) {
  auto const parsed = parse_threshold(text, figure);
  EXPECT_FALSE(parsed.value.has_value()) << text;
  return parsed.problem;
}

TEST(Threshold, AtLeast) {
  auto const b = threshold(">= 40 GB/s");
  EXPECT_EQ(b.at_least, 40e9);
  EXPECT_EQ(b.at_most, std::nullopt);
  EXPECT_EQ(b.relative_to, "");
  EXPECT_EQ(b.text, ">= 40 GB/s");
  EXPECT_TRUE(b.holds(40e9));
  EXPECT_TRUE(b.holds(90e9));
  EXPECT_FALSE(b.holds(39.99e9));
}

TEST(Threshold, AtMostInEachFigure) {
  EXPECT_DOUBLE_EQ(threshold("<= 12.5 us", Dimension::Time).at_most.value(), 12.5e-6);
  EXPECT_DOUBLE_EQ(threshold("<= 2 %", Dimension::Ratio).at_most.value(), 0.02);
  EXPECT_EQ(threshold("<= 0.02", Dimension::Ratio).at_most, 0.02);
  EXPECT_FALSE(threshold("<= 200 Gb/s").holds(25.1e9));
  EXPECT_TRUE(threshold("<= 200 Gb/s").holds(25e9));
}

TEST(Threshold, ARange) {
  auto const b = threshold("24 GB/s .. 27 GB/s");
  EXPECT_FALSE(b.holds(23.9e9));
  EXPECT_TRUE(b.holds(24e9));
  EXPECT_TRUE(b.holds(27e9));
  EXPECT_FALSE(b.holds(27.1e9));
}

TEST(Threshold, EqualAllowsOnePercent) {
  auto const b = threshold("= 50 GB/s");
  EXPECT_TRUE(b.holds(49.5e9));
  EXPECT_TRUE(b.holds(50.5e9));
  EXPECT_FALSE(b.holds(49.4e9));
  EXPECT_FALSE(b.holds(50.6e9));
}

TEST(Threshold, EqualWithAToleranceOfItsOwn) {
  auto const b = threshold("= 50 GB/s +- 5 %");
  EXPECT_TRUE(b.holds(47.5e9));
  EXPECT_TRUE(b.holds(52.5e9));
  EXPECT_FALSE(b.holds(47.4e9));
  EXPECT_FALSE(b.holds(52.6e9));
}

TEST(Threshold, RelativeToAnotherFigure) {
  auto const b = threshold(">= 1.8 x acs-off");
  EXPECT_EQ(b.relative_to, "acs-off");
  EXPECT_TRUE(b.holds(18, 10));
  EXPECT_FALSE(b.holds(17.9, 10));
  auto const other = threshold("= 0.5 x acs-off/lone +- 10 %", Dimension::Time);
  EXPECT_EQ(other.relative_to, "acs-off/lone");
  EXPECT_TRUE(other.holds(4.5, 10));
  EXPECT_TRUE(other.holds(5.5, 10));
  EXPECT_FALSE(other.holds(5.6, 10));
}

TEST(Threshold, ABoundMetExactlyHoldsDespiteTheLastDigit) {
  EXPECT_TRUE(threshold("<= 0.3 s", Dimension::Time).holds(0.1 + 0.2));
  EXPECT_TRUE(threshold(">= 3 x lone").holds(0.3, 0.1));
}

TEST(Threshold, SpacesDoNotMatter) {
  EXPECT_EQ(threshold("  >=40 GB/s ").at_least, 40e9);
  EXPECT_EQ(threshold(">= 2  x  lone").relative_to, "lone");
}

TEST(Threshold, RefusalsSayWhatIsAllowed) {
  EXPECT_THAT(problem("40 GB/s"), AllOf(HasSubstr("'40 GB/s' is not an expectation"), HasSubstr("none of >=, <=, ="),
                                        HasSubstr("write '>= 40 GB/s'")));
  EXPECT_THAT(problem("27 GB/s .. 24 GB/s"), HasSubstr("the range is empty"));
  problem("");
  problem(">=");
  problem("> 40 GB/s");
  problem(">= 40");     // no unit
  problem(">= 40 us");  // a time
  problem(">= 40 GB/s", Dimension::Time);
  problem("<= 2 GB/s", Dimension::Ratio);
  problem(">= x acs-off");
  problem(">= 2 x");
  problem(">= 0 x acs-off");
  problem(">= -1 x acs-off");
  problem(">= inf x acs-off");
  problem("= 50 GB/s +- ");
  problem("24 GB/s .. ");
  problem(" .. 24 GB/s");
}

// An interval may reach into a range, or lie around it.
TEST(Threshold, AnIntervalHoldsWhereSomeOfItDoes) {
  auto const range = threshold("24 GB/s .. 27 GB/s");
  EXPECT_TRUE(range.holds_between(20e9, 24e9));
  EXPECT_TRUE(range.holds_between(20e9, 30e9));
  EXPECT_FALSE(range.holds_between(20e9, 23e9));
  EXPECT_FALSE(range.holds_between(28e9, 30e9));
  EXPECT_TRUE(threshold(">= 1.8 x other").holds_between(1.7, 1.9));
  EXPECT_FALSE(threshold(">= 1.8 x other").holds_between(1.6, 1.7));
}

// A tolerance beside >= or <= has no meaning; taken silently it would look as if it had.
TEST(Threshold, OnlyEqualTakesATolerance) {
  EXPECT_THAT(problem(">= 40 GB/s +- 5 %"), HasSubstr("'+-' goes with '='"));
  EXPECT_THAT(problem("<= 2 x lone +- 5 %"), HasSubstr("'+-' goes with '='"));
}

}  // namespace
}  // namespace lanewise
