// Verdicts as text, as JSON, as JUnit XML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "core/interop/exports/junit.hpp"
#include "core/view/verdict_text.hpp"
#include "tests/verdict/fake_executor.hpp"

namespace lanewise {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Of two expectations the first holds; the third run of another scenario has no legal way.
std::vector<ScenarioVerdict> verdicts() {
  return {test::check(R"(lanewise: scenario/1
scenario: mixed
title: one holds & one "does" <not>
machines: [pair]
transfers: [{id: a, from: gpu0, to: gpu1, bytes: 256 MiB}]
expect:
  - {makespan: "= 2 ms"}
  - {makespan: "<= 1 ms"}
)",
                      test::usual_durations()),
          test::check(R"(lanewise: scenario/1
scenario: impossible
machines: [pair]
transfers: [{id: a, from: gpu0, to: gpu1, bytes: 8 MB, mechanism: nvlink}]
)",
                      test::usual_durations())};
}

TEST(VerdictReport, TextNamesPlaceExpectedAndFound) {
  auto const text = verdict_text(verdicts());
  EXPECT_THAT(text,
              AllOf(HasSubstr("FAIL s.yaml:8:5: mixed on pair: expected makespan <= 1 ms; found 2"),
                    HasSubstr("FAIL impossible on pair"), HasSubstr("0 of 2 scenarios pass, 2 expectations checked"),
                    HasSubstr("1/2"), HasSubstr("100.0 %")));
}

TEST(VerdictReport, JsonHasEveryField) {
  auto const json = verdict_json(verdicts());
  EXPECT_EQ(json.at("lanewise"), "verdict/1");
  EXPECT_EQ(json.at("passed"), false);
  auto const& mixed = json.at("scenarios")[0];
  EXPECT_EQ(mixed.at("scenario"), "mixed");
  EXPECT_EQ(mixed.at("title"), "one holds & one \"does\" <not>");
  EXPECT_EQ(mixed.at("mode"), "fake");
  EXPECT_EQ(mixed.at("passed"), false);
  auto const& run = mixed.at("runs")[0];
  EXPECT_EQ(run.at("machine"), "pair");
  EXPECT_EQ(run.at("variant"), "");
  EXPECT_DOUBLE_EQ(run.at("makespan_us").get<double>(), 2000);
  EXPECT_FALSE(run.contains("failure"));
  auto const& decision = run.at("decisions")[0];
  EXPECT_EQ(decision.at("transfer"), "a");
  EXPECT_EQ(decision.at("mechanism"), "pcie_p2p");
  EXPECT_EQ(decision.at("route"), (nlohmann::ordered_json{"gpu0", "sw0", "gpu1"}));
  EXPECT_DOUBLE_EQ(decision.at("time_us").get<double>(), 2000);
  EXPECT_NEAR(decision.at("bandwidth_GBps").get<double>(), 268435456 / 2e-3 / 1e9, 1e-6);
  EXPECT_GE(decision.at("alternatives").get<int>(), 2);
  EXPECT_THAT(decision.at("best").get<std::string>(), HasSubstr("host_staged"));
  EXPECT_NEAR(decision.at("regret").get<double>(), 1.0, 1e-9);
  auto const& result = mixed.at("results")[1];
  EXPECT_EQ(result.at("expected"), "makespan <= 1 ms");
  EXPECT_EQ(result.at("passed"), false);
  EXPECT_EQ(result.at("at"), "s.yaml:8:5");
  EXPECT_THAT(result.at("found").get<std::string>(), HasSubstr("2"));
  auto const& impossible = json.at("scenarios")[1].at("runs")[0];
  EXPECT_THAT(impossible.at("failure").get<std::string>(), HasSubstr("NVLINK-NONE"));
  EXPECT_FALSE(impossible.contains("makespan_us"));
}

TEST(VerdictReport, JUnitIsXmlThatCountsRight) {
  pugi::xml_document document;
  auto const xml = junit_xml(verdicts());
  auto const parsed = document.load_string(xml.c_str());
  ASSERT_TRUE(parsed) << parsed.description() << "\n" << xml;
  auto const root = document.child("testsuites");
  int suites = 0;
  for (auto const& suite : root.children("testsuite")) {
    ++suites;
    int cases = 0;
    int failures = 0;
    for (auto const& test : suite.children("testcase")) {
      ++cases;
      failures += test.child("failure") ? 1 : 0;
      EXPECT_STRNE(test.attribute("name").value(), "");
      EXPECT_STREQ(test.attribute("classname").value(), suite.attribute("name").value());
    }
    EXPECT_EQ(suite.attribute("tests").as_int(), cases);
    EXPECT_EQ(suite.attribute("failures").as_int(), failures);
  }
  EXPECT_EQ(suites, 2);
  auto const mixed = root.child("testsuite");
  EXPECT_STREQ(mixed.attribute("name").value(), "mixed (fake)");
  EXPECT_EQ(mixed.attribute("tests").as_int(), 3);
  EXPECT_EQ(mixed.attribute("failures").as_int(), 1);
  EXPECT_NEAR(mixed.child("testcase").attribute("time").as_double(), 2e-3, 1e-9);
  EXPECT_THAT(xml, HasSubstr("expected makespan &lt;= 1 ms"));
}

TEST(VerdictReport, NoVerdictsPass) {
  EXPECT_EQ(verdict_json({}).at("passed"), true);
  EXPECT_TRUE(verdict_json({}).at("scenarios").is_array());
}

}  // namespace
}  // namespace lanewise
