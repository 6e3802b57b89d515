#include "lanewise/units/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace lanewise {
namespace {

using ::testing::HasSubstr;
using namespace literals;

TEST(ParseBytes, KnowsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("256 MiB").value, 256_MiB);
  EXPECT_EQ(parse_bytes("4KiB").value, 4_KiB);
  EXPECT_EQ(parse_bytes(" 1 GB ").value, 1_GB);
  EXPECT_EQ(parse_bytes("0 B").value, 0_B);
  EXPECT_EQ(parse_bytes("0.5 KiB").value, 512_B);
}

TEST(ParseBytes, RefusesWithAReason) {
  EXPECT_THAT(parse_bytes("256").problem, HasSubstr("no unit"));
  EXPECT_THAT(parse_bytes("-1 MiB").problem, HasSubstr("zero or more"));
  EXPECT_THAT(parse_bytes("1 parsec").problem, HasSubstr("allowed: B, KiB"));
  EXPECT_THAT(parse_bytes("lots").problem, HasSubstr("is not a size"));
  EXPECT_THAT(parse_bytes("1e30 GB").problem, HasSubstr("too large"));
  EXPECT_THAT(parse_bytes("0.3 B").problem, HasSubstr("whole number"));
  EXPECT_THAT(parse_bytes("nan B").problem, HasSubstr("is not a size"));
  EXPECT_THAT(parse_bytes("inf B").problem, HasSubstr("is not a size"));
}

TEST(ParseRate, TellsBitsFromBytes) {
  EXPECT_DOUBLE_EQ(parse_rate("200 Gb/s").value->value(), 25e9);
  EXPECT_DOUBLE_EQ(parse_rate("24.5 GB/s").value->value(), 24.5e9);
  EXPECT_DOUBLE_EQ(parse_rate("1 GiB/s").value->value(), 1073741824.0);
  EXPECT_THAT(parse_rate("0 GB/s").problem, HasSubstr("more than zero"));
}

TEST(ParseSeconds, KnowsNanosecondsToSeconds) {
  EXPECT_DOUBLE_EQ(parse_seconds("105 ns").value->value(), 105e-9);
  EXPECT_DOUBLE_EQ(parse_seconds("1.8us").value->value(), 1.8e-6);
  EXPECT_DOUBLE_EQ(parse_seconds("0 s").value->value(), 0);
}

TEST(ParseRatio, TakesPercentAndBareNumbers) {
  EXPECT_DOUBLE_EQ(*parse_ratio("2 %").value, 0.02);
  EXPECT_DOUBLE_EQ(*parse_ratio("0.8").value, 0.8);
  EXPECT_THAT(parse_ratio("-0.1").problem, HasSubstr("zero or more"));
}

TEST(ExactText, ReadsBackToTheSameValue) {
  for (auto const* text : {"256 MiB", "3 B", "1536 KiB", "0 B"}) EXPECT_EQ(exact_text(*parse_bytes(text).value), text);
  for (double const rate : {1.0, 24.5e9, 25e9, 1e12 / 3, 6.02e17, 1.1}) {
    BytesPerSecond const value(rate);
    EXPECT_EQ(parse_rate(exact_text(value)).value, value) << exact_text(value);
  }
  for (double const time : {105e-9, 1.0 / 3, 3.7e-6, 12.0}) {
    EXPECT_EQ(parse_seconds(exact_text(Seconds(time))).value, Seconds(time)) << exact_text(Seconds(time));
  }
}

TEST(ExactText, ReadsBackWhateverTheDigits) {  // 2.039 TB/s is another double than 2039 GB/s
  for (int figure = 1; figure < 4'000; ++figure) {
    for (auto const* unit : {"MB/s", "GB/s", "TB/s", "Gb/s", "GiB/s"}) {
      auto const rate = *parse_rate(std::to_string(figure) + " " + unit).value;
      ASSERT_EQ(parse_rate(exact_text(rate)).value, rate) << figure << " " << unit << ": " << exact_text(rate);
    }
    for (auto const* unit : {"ps", "ns", "us", "ms", "s"}) {
      auto const time = *parse_seconds(std::to_string(figure) + " " + unit).value;
      ASSERT_EQ(parse_seconds(exact_text(time)).value, time) << figure << " " << unit << ": " << exact_text(time);
    }
    auto const often = *parse_frequency(std::to_string(figure) + " M/s").value;
    ASSERT_EQ(parse_frequency(exact_text(often)).value, often) << exact_text(often);
  }
}

TEST(ExactText, ReadsBackAnyDouble) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent_of_rates(0, 45);
  std::uniform_real_distribution<double> exponent_of_times(-40, 29);
  for (int i = 0; i < 5'000; ++i) {
    auto value = std::exp2(exponent_of_rates(random));
    ASSERT_EQ(parse_rate(exact_text(BytesPerSecond(value))).value, BytesPerSecond(value))
        << exact_text(BytesPerSecond(value));
    value = std::exp2(exponent_of_times(random));
    ASSERT_EQ(parse_seconds(exact_text(Seconds(value))).value, Seconds(value)) << exact_text(Seconds(value));
  }
}

TEST(ExactText, StaysAsPeopleWroteIt) {
  for (auto const* text : {"24.5 GB/s", "1.935 TB/s", "12.5 GB/s", "3.35 TB/s", "900 MB/s"})
    EXPECT_EQ(exact_text(*parse_rate(text).value), text);
  for (auto const* text : {"105 ns", "1.8 us", "2 ms", "600 ns"})
    EXPECT_EQ(exact_text(*parse_seconds(text).value), text);
}

TEST(RoundedText, IsShort) {
  EXPECT_EQ(rounded_text(26.213_GBps), "26.2 GB/s");
  EXPECT_EQ(rounded_text(2.7_GBps), "2.70 GB/s");
  EXPECT_EQ(rounded_text(0.000350_s), "350.0 us");
  EXPECT_EQ(rounded_text(730.0_ns), "730 ns");
}

TEST(Limits, AreSaidWithTheUnit) {
  EXPECT_EQ(parse_rate("1e-320 GB/s").problem, "'1e-320 GB/s' is too small; at least 1 B/s");
  EXPECT_EQ(parse_rate("1e308 GB/s").problem, "'1e308 GB/s' is too large; at most 1000000 TB/s");
  EXPECT_EQ(parse_rate("9e9 Gb/s").problem, "'9e9 Gb/s' is too large; at most 1000000 TB/s");
  EXPECT_EQ(parse_seconds("1e308 s").problem, "'1e308 s' is too large; at most 1000000000 s");
  EXPECT_EQ(parse_bytes("5e6 TiB").problem, "'5e6 TiB' is too large; at most 1024 TiB");
  EXPECT_EQ(parse_flop_rate("1e308 PFLOP/s").problem, "'1e308 PFLOP/s' is too large; at most 1000000000 PFLOP/s");
  EXPECT_EQ(parse_watts("14.3 kW").value, Watts(14300));
  EXPECT_EQ(exact_text(Watts(14300)), "14300 W");
  EXPECT_EQ(parse_watts("700").problem, "'700' has no unit; write one of mW, W, kW, MW, such as '700 W'");
  EXPECT_EQ(parse_ratio("1e300 %").problem, "'1e300 %' is too large; at most 1000000, or 100000000 %");
  EXPECT_TRUE(parse_seconds("0 s").value);
  EXPECT_TRUE(parse_seconds("1e9 s").value);
  EXPECT_TRUE(parse_rate("1 B/s").value);
}

}  // namespace
}  // namespace lanewise
