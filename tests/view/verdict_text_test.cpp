// Verdicts as text, as JSON, as JUnit XML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "core/interop/exports/annotations.hpp"
#include "core/interop/exports/junit.hpp"
#include "core/view/verdict_markdown.hpp"
#include "core/view/verdict_text.hpp"
#include "lanewise/io/error.hpp"
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
  auto const run = mixed.child("testcase");
  EXPECT_STREQ(run.attribute("file").value(), "s.yaml");
  EXPECT_EQ(run.attribute("line").as_int(), 2);
  EXPECT_THAT(run.child("system-out").text().get(), HasSubstr("makespan 2.00 ms"));
  auto const failed = run.next_sibling().next_sibling();
  EXPECT_EQ(failed.attribute("line").as_int(), 8);
  EXPECT_STREQ(failed.child("failure").attribute("type").value(), "makespan");
  EXPECT_THAT(xml, HasSubstr("expected makespan &lt;= 1 ms"));
  // Without a way, the type is the rule that refuses it.
  EXPECT_STREQ(mixed.next_sibling().child("testcase").child("failure").attribute("type").value(), "NVLINK-NONE");
}

// What simulates a millisecond may take a second, and a plan that is refused takes time too.
TEST(VerdictReport, JUnitHasTheRealTimeOfEachRun) {
  auto some = verdicts();
  some[0].runs[0].real_time = Seconds(1.25);
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(junit_xml(some).c_str()));
  auto const suite = document.child("testsuites").child("testsuite");
  EXPECT_DOUBLE_EQ(suite.child("testcase").attribute("time").as_double(), 1.25);
  EXPECT_DOUBLE_EQ(suite.attribute("time").as_double(), 1.25);
}

std::vector<ScenarioVerdict> with_error() {
  auto all = verdicts();
  all.push_back(unreadable_scenario("b|d.yaml", "fake", InputError("is 100 % wrong:\nit, too")));
  return all;
}

TEST(VerdictReport, AnErrorIsNoFailureAndNamesItsFile) {
  pugi::xml_document document;
  auto const xml = junit_xml(with_error());
  ASSERT_TRUE(document.load_string(xml.c_str()));
  auto const suite = document.child("testsuites").last_child();
  EXPECT_EQ(suite.attribute("errors").as_int(), 1);
  EXPECT_EQ(suite.attribute("failures").as_int(), 0);
  auto const test = suite.child("testcase");
  EXPECT_STREQ(test.attribute("file").value(), "b|d.yaml");
  EXPECT_THAT(test.child("error").attribute("message").value(), HasSubstr("b|d.yaml: error: is 100 % wrong"));
  auto const json = verdict_json(with_error());
  EXPECT_EQ(json.at("passed"), false);
  EXPECT_EQ(json.at("scenarios")[2].at("errors")[0].at("file"), "b|d.yaml");
  EXPECT_THAT(verdict_text(with_error()), AllOf(HasSubstr("ERROR"), HasSubstr("2 expectations checked, 1 error\n")));
}

TEST(VerdictReport, AnnotationsAreCommandsOfOneLineEach) {
  auto const text = github_annotations(with_error());
  EXPECT_THAT(text, testing::StartsWith("::error file=b|d.yaml,title=b|d.yaml cannot be checked::b|d.yaml: error: is "
                                        "100 %25 wrong:%0Ait, too\n"));
  EXPECT_THAT(text,
              HasSubstr("::error file=s.yaml,line=8,col=5,title=mixed on pair::expected makespan <= 1 ms; found"));
  EXPECT_THAT(text, HasSubstr("title=impossible on pair::"));
  EXPECT_EQ(github_annotation("notice", {"a,b:c", 0, 0}, "t", "m"), "::notice file=a%2Cb%3Ac,title=t::m\n");
}

TEST(VerdictReport, MarkdownHasEveryProblemAndRun) {
  auto const text = verdict_markdown(with_error());
  EXPECT_THAT(text, AllOf(HasSubstr("### lanewise: 0 of 3 scenarios pass"), HasSubstr("- b\\|d.yaml: error: is 100 %"),
                          HasSubstr("- s.yaml:8: **mixed** on pair: expected makespan &lt;= 1 ms; found"),
                          HasSubstr("| fake | mixed | pair |")));
  EXPECT_THAT(text, testing::Not(HasSubstr("<details>")));
}

TEST(VerdictReport, NoVerdictsPass) {
  EXPECT_EQ(verdict_json({}).at("passed"), true);
  EXPECT_TRUE(verdict_json({}).at("scenarios").is_array());
}

}  // namespace
}  // namespace lanewise
