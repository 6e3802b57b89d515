#include "core/io/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

using test::input_error;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string json_refusal(std::string text) {
  return input_error([&] { parse_json(SourceText::from_memory("f", std::move(text)), "plan/1"); });
}

TEST(Json, SaysWhatAFileLacksInPlainWords) {
  auto const reason = [](auto const& read) {
    try {
      read(nlohmann::ordered_json{{"way", {{"mechanism", 3}}}});
    } catch (nlohmann::ordered_json::exception const& error) {
      return reason_of(error);
    }
    return std::string();
  };
  EXPECT_EQ(reason([](auto const& json) { json.at("way").at("drive"); }), "it has no 'drive'");
  EXPECT_EQ(reason([](auto const& json) { json.at("way").at("mechanism").template get<std::string>(); }),
            "type must be string, but is number");
}

// Positive numbers over many orders of magnitude.
class Numbers {
 public:
  double operator()() { return std::exp2(exponent_(random_)) * (1 + fraction_(random_)); }

 private:
  std::mt19937_64 random_{42};
  std::uniform_real_distribution<double> exponent_{-60, 60};
  std::uniform_real_distribution<double> fraction_{0, 1};
};

TEST(JsonNumbers, WhatWasReadWritesTheSameAgain) {
  Numbers number;
  for (int i = 0; i < 200'000; ++i) {
    auto const written = number();
    auto const time = from_microseconds(written);
    ASSERT_EQ(from_microseconds(microseconds(time)), time) << written;
    auto const rate = from_gigabytes_per_second(written);
    ASSERT_EQ(from_gigabytes_per_second(gigabytes_per_second(rate)), rate) << written;
  }
}

TEST(JsonNumbers, AreStableAfterOneWayThrough) {
  Numbers number;
  for (int i = 0; i < 200'000; ++i) {
    Seconds const time(number());
    auto const once = through_json(time);
    ASSERT_NEAR(once.value() / time.value(), 1, 1e-15);
    ASSERT_EQ(through_json(once), once) << time.value();
    BytesPerSecond const rate(number());
    auto const rate_once = through_json(rate);
    ASSERT_NEAR(rate_once.value() / rate.value(), 1, 1e-15);
    ASSERT_EQ(through_json(rate_once), rate_once) << rate.value();
  }
}

TEST(JsonNumbers, TooLargeForADoubleIsRefused) {
  EXPECT_THAT(json_refusal(R"({"lanewise": "plan/1", "x": 1e999})"), HasSubstr("too large for a double: '1e999'"));
}

TEST(JsonNumbers, SurviveTheTextToo) {
  Numbers number;
  for (int i = 0; i < 20'000; ++i) {
    auto const time = through_json(Seconds(number()));
    auto const text = nlohmann::ordered_json(microseconds(time)).dump();
    ASSERT_EQ(from_microseconds(nlohmann::ordered_json::parse(text).get<double>()), time) << text;
  }
}

TEST(JsonNumbers, RoundFiguresStayRound) {
  EXPECT_EQ(from_microseconds(2.5), Seconds(2.5e-6));
  EXPECT_EQ(from_microseconds(0), Seconds(0));
  EXPECT_EQ(from_gigabytes_per_second(24.5), BytesPerSecond(24.5e9));
}

TEST(ParseJson, SaysWhereItBreaks) {
  EXPECT_THAT(json_refusal("{\"lanewise\": \"plan/1\",\n \"steps\": [1,, 2]}"),
              StartsWith("f:2:14: error: not valid JSON"));
  EXPECT_THAT(json_refusal(""), HasSubstr("not valid JSON"));
  EXPECT_THAT(json_refusal("{\"lanewise\": \"plan/1\""), StartsWith("f:1:"));  // truncated
}

TEST(ParseJson, WantsItsSchema) {
  EXPECT_NO_THROW(parse_json(SourceText::from_memory("f", R"({"lanewise": "plan/1"})"), "plan/1"));
  EXPECT_THAT(json_refusal(R"({"lanewise": "trace/1"})"), HasSubstr("this is 'trace/1', but 'plan/1' is needed"));
  EXPECT_THAT(json_refusal(R"({"steps": []})"), HasSubstr("not a lanewise JSON file"));
  EXPECT_THAT(json_refusal("[]"), HasSubstr("not a lanewise JSON file"));
  EXPECT_THAT(json_refusal(R"({"lanewise": 1})"), HasSubstr("not a lanewise JSON file"));
}

TEST(ParseJson, DoesNotSinkIntoDeepNesting) {
  EXPECT_NE(json_refusal(std::string(1'000'000, '[')), "");
  std::string deep =
      R"({"lanewise": "plan/1", "steps": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_NO_THROW(parse_json(SourceText::from_memory("f", deep), "plan/1"));
}

}  // namespace
}  // namespace lanewise
