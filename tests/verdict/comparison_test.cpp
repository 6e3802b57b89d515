#include "core/verdict/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/view/comparison_text.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::HasSubstr;

// One step after another, of these durations in microseconds.
Trace trace(std::string const& mode, std::vector<double> const& microseconds) {
  Trace made;
  made.mode = mode;
  made.machine = "pair";
  made.fingerprint = "f00d";
  for (auto const us : microseconds) {
    made.steps.push_back({"t" + std::to_string(made.steps.size()), made.makespan, made.makespan + Seconds(us * 1e-6),
                          1_MiB, std::nullopt});
    made.makespan = made.steps.back().end;
  }
  return made;
}

TEST(Comparison, ErrorIsHowFarTheFirstIsOffTheSecond) {
  auto const c = compare(trace("sim", {110}), trace("hw", {100}));
  EXPECT_NEAR(c.steps[0].error(), 0.1, 1e-12);
  EXPECT_EQ(c.first_mode, "sim");
  EXPECT_EQ(c.second_mode, "hw");
  EXPECT_TRUE(c.warnings.empty());
}

TEST(Comparison, TheMedianIsOfAbsoluteErrors) {
  auto const hw = [](std::size_t n) { return trace("hw", std::vector<double>(n, 100)); };
  EXPECT_NEAR(compare(trace("sim", {150, 90, 101}), hw(3)).median_error(), 0.1, 1e-9);
  EXPECT_NEAR(compare(trace("sim", {150, 80, 101, 110}), hw(4)).median_error(), 0.15, 1e-9);
  EXPECT_EQ(compare(trace("sim", {}), hw(0)).median_error(), 0);
}

TEST(Comparison, DifferentPlansAreRefused) {
  auto const first = trace("sim", {100, 100});
  EXPECT_THROW(compare(first, trace("hw", {100})), InputError);
  auto other = trace("hw", {100, 100});
  other.steps[1].transfer = "else";
  try {
    compare(first, other);
    FAIL();
  } catch (InputError const& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("different plans"), HasSubstr("'t1'"), HasSubstr("'else'")));
  }
  other = trace("hw", {100, 100});
  other.steps[0].bytes = 2_MiB;
  EXPECT_THROW(compare(first, other), InputError);
}

TEST(Comparison, OtherMachinesAndSettingsAreWarnings) {
  auto other = trace("hw", {100});
  other.fingerprint = "beef";
  EXPECT_THAT(compare(trace("sim", {100}), other).warnings, testing::ElementsAre(HasSubstr("settings differ")));
  other.machine = "server";
  auto const c = compare(trace("sim", {100}), other);
  EXPECT_THAT(c.warnings, testing::ElementsAre(AllOf(HasSubstr("'pair'"), HasSubstr("'server'"))));
  EXPECT_THAT(comparison_text(c), HasSubstr("warning: the machines differ"));
}

TEST(Comparison, TextAndJson) {
  auto second = trace("hw", {100, 200});
  second.steps[0].verified = true;
  second.steps[1].verified = false;
  auto const c = compare(trace("sim", {110, 200}), second);
  auto const text = comparison_text(c);
  EXPECT_THAT(text, AllOf(HasSubstr("10.0 %"), HasSubstr("yes"), HasSubstr("NO"), HasSubstr("median error 5.0 %")));
  auto const json = comparison_json(c);
  EXPECT_EQ(json.at("lanewise"), "comparison/1");
  EXPECT_EQ(json.at("machine"), "pair");
  EXPECT_EQ(json.at("modes"), (nlohmann::ordered_json{"sim", "hw"}));
  EXPECT_NEAR(json.at("median_error").get<double>(), 0.05, 1e-9);
  EXPECT_NEAR(json.at("makespan_us")[0].get<double>(), 310, 1e-6);
  EXPECT_EQ(json.at("steps")[1].at("verified"), false);
  EXPECT_NEAR(json.at("steps")[0].at("error").get<double>(), 0.1, 1e-9);
}

TEST(Comparison, ADifferenceWithinTheNoiseIsSaidToBe) {
  auto measured = trace("hw", {100, 100});
  measured.steps[0].noise = TimeRange{Seconds(80e-6), Seconds(115e-6)};
  measured.steps[0].spread = 0.3;
  measured.steps[1].noise = TimeRange{Seconds(99e-6), Seconds(101e-6)};
  measured.steps[1].spread = 0.02;
  measured.noise = TimeRange{Seconds(190e-6), Seconds(240e-6)};
  measured.spread = 0.2;
  auto const c = compare(trace("sim", {110, 110}), measured);
  EXPECT_EQ(c.steps[0].within_noise(), true);
  EXPECT_EQ(c.steps[1].within_noise(), false);
  EXPECT_EQ(c.makespan.within_noise(), true);
  auto const text = comparison_text(c);
  EXPECT_THAT(text, AllOf(HasSubstr("within its noise"), HasSubstr("beyond its noise"), HasSubstr("30.0 %")));
  auto const json = comparison_json(c);
  EXPECT_EQ(json.at("makespan_within_noise"), true);
  EXPECT_EQ(json.at("steps")[1].at("within_noise"), false);
  EXPECT_EQ(compare(trace("sim", {100}), trace("hw", {100})).steps[0].within_noise(), std::nullopt);
}

}  // namespace
}  // namespace lanewise
