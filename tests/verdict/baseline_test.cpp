// Verdicts against earlier ones. Times are the test's own: a peer copy takes 2 ms, a staged one 1 ms.
#include "core/verdict/baseline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/view/baseline_text.hpp"
#include "lanewise/io/error.hpp"
#include "tests/verdict/fake_executor.hpp"

namespace lanewise {
namespace {

using test::usual_durations;
using testing::AllOf;
using testing::HasSubstr;

ScenarioVerdict one(std::string const& bytes = "8 MB", std::string const& rest = "", double slower = 1,
                    std::string const& mechanism = "pcie_p2p") {
  auto durations = usual_durations();
  for (auto& [which, time] : durations) time = Seconds(time.value() * slower);
  auto verdict = test::check(
      "lanewise: scenario/1\nscenario: s\nmachines: [pair]\ntransfers: [{id: a, from: gpu0, to: "
      "gpu1, bytes: " +
          bytes + ", mechanism: " + mechanism + "}]\n" + rest,
      durations);
  verdict.mode = "sim";
  return verdict;
}

Baseline baseline_of(std::vector<ScenarioVerdict> const& verdicts) {
  return read_baseline(SourceText::from_memory("base.json", verdict_json(verdicts).dump(2)));
}

std::vector<std::string> kinds(BaselineComparison const& comparison) {
  std::vector<std::string> all;
  for (auto const& change : comparison.changes)
    all.push_back((change.regression ? "!" : "") + std::string(to_string(change.kind)));
  return all;
}
std::vector<std::string> kinds(ScenarioVerdict const& before, ScenarioVerdict const& now,
                               BaselineOptions const& options = {}) {
  return kinds(compare_with(baseline_of({before}), {now}, options));
}
using Kinds = std::vector<std::string>;

TEST(Baseline, TheSameVerdictHasNoChanges) {
  auto const comparison = compare_with(baseline_of({one()}), {one()}, {});
  EXPECT_EQ(kinds(comparison), Kinds{});
  EXPECT_EQ(comparison.compared, 1U);
  EXPECT_EQ(comparison.unchanged, 1U);
  EXPECT_TRUE(comparison.passed());
}

TEST(Baseline, SlowerIsBeyondTheTolerance) {
  EXPECT_EQ(kinds(one(), one("8 MB", "", 1.019)), Kinds{});
  EXPECT_EQ(kinds(one(), one("8 MB", "", 1.021)), Kinds{"!slower"});
  EXPECT_EQ(kinds(one(), one("8 MB", "", 0.979)), Kinds{"faster"});
  EXPECT_EQ(kinds(one(), one("8 MB", "", 1.04), {.tolerance = 0.05}), Kinds{});
  EXPECT_EQ(kinds(one(), one("8 MB", "", 1.04), {.tolerance = 0.02, .fail_on = {}}), Kinds{"slower"});
  auto const comparison = compare_with(baseline_of({one()}), {one("8 MB", "", 1.5)}, {});
  EXPECT_EQ(comparison.changes[0].detail, "makespan 3.00 ms, was 2.00 ms (+50.0 %)");
  EXPECT_NEAR(*comparison.changes[0].ratio, 1.5, 1e-9);
  EXPECT_FALSE(comparison.passed());
}

// No time is rounded on its way through the file.
TEST(Baseline, WithoutAToleranceTheSameIsStillTheSame) {
  for (int i = 1; i < 200; ++i) {
    auto verdict = one("8 MB", "", 1 / (0.37 + i * 0.0137));
    EXPECT_EQ(kinds(verdict, verdict, {.tolerance = 0}), Kinds{}) << i;
  }
}

// Times that were measured differ only where their intervals lie apart.
TEST(Baseline, NoiseIsNoRegression) {
  auto const measured = [](double milliseconds, double noise) {
    auto verdict = one("8 MB", "", milliseconds / 2);
    verdict.mode = "hw";
    verdict.runs[0].trace.noise =
        TimeRange{Seconds((milliseconds - noise) * 1e-3), Seconds((milliseconds + noise) * 1e-3)};
    return verdict;
  };
  EXPECT_EQ(kinds(measured(2, 0.2), measured(2.2, 0.1)), Kinds{});
  EXPECT_EQ(kinds(measured(2, 0.05), measured(2.2, 0.1)), Kinds{"!slower"});
  auto reported = measured(3, 0.01);
  reported.runs[0].timing_exclusion = "Soft-RoCE";
  EXPECT_EQ(kinds(measured(2, 0.01), reported), Kinds{});
}

TEST(Baseline, AChangedMechanismFailsUnlessItIsFaster) {
  auto const staged = [](double slower) { return one("8 MB", "", slower, "host_staged"); };  // 1 ms
  EXPECT_EQ(kinds(one(), staged(2)), Kinds{"!mechanism"});
  EXPECT_EQ(kinds(one(), staged(1)), (Kinds{"mechanism", "faster"}));
  EXPECT_EQ(kinds(staged(1), one()), (Kinds{"!slower", "!mechanism"}));
  EXPECT_EQ(compare_with(baseline_of({one()}), {staged(2)}, {}).changes[0].detail, "a: host_staged, was pcie_p2p");
}

TEST(Baseline, AMechanismThatTheScenarioExpectsIsNoRegression) {
  auto const expecting = [](std::string const& mechanism) {
    return one("8 MB", "expect: [{mechanism: [" + mechanism + "]}]\n", 2, "host_staged");  // 2 ms, as by peer access
  };
  auto const comparison = compare_with(baseline_of({one()}), {expecting("host_staged")}, {});
  EXPECT_EQ(kinds(comparison), Kinds{"mechanism"});
  EXPECT_EQ(comparison.changes[0].detail, "a: host_staged, was pcie_p2p (as expected)");
  EXPECT_EQ(kinds(one(), expecting("nvlink")), (Kinds{"!fails", "!mechanism"}));
}

TEST(Baseline, OtherWorkIsNotCompared) {
  EXPECT_EQ(kinds(one(), one("16 MB", "", 2)), Kinds{"other-work"});
  EXPECT_EQ(kinds(one(), one("16 MB", "", 2), {.fail_on = {ChangeKind::OtherWork}}), Kinds{"!other-work"});
}

TEST(Baseline, FailingNewlyAndFixed) {
  std::string const tight = "expect: [{makespan: <= 1 ms}]\n";
  std::string const wide = "expect: [{makespan: <= 9 ms}]\n";
  EXPECT_EQ(kinds(one("8 MB", wide), one("8 MB", tight)), Kinds{"!fails"});
  EXPECT_EQ(kinds(one("8 MB", tight), one("8 MB", wide)), Kinds{"fixed"});
  EXPECT_EQ(kinds(one("8 MB", tight), one("8 MB", tight)), Kinds{});
}

TEST(Baseline, ARunWithoutAPlanIsGone) {
  EXPECT_EQ(kinds(one(), one("8 MB", "", 1, "nvlink")), (Kinds{"!fails", "gone"}));
  EXPECT_EQ(kinds(one("8 MB", "", 1, "nvlink"), one()), (Kinds{"new", "fixed"}));
}

TEST(Baseline, NewAndGoneAreToldByScenarioMachineAndVariant) {
  auto other = one();
  other.runs[0].variant = "acs-on";
  auto const comparison = compare_with(baseline_of({one()}), {other}, {});
  EXPECT_EQ(kinds(comparison), (Kinds{"gone", "new"}));
  EXPECT_TRUE(comparison.passed());
  EXPECT_EQ(comparison.compared, 0U);
  EXPECT_EQ(kinds(compare_with(baseline_of({one()}), {other}, {.fail_on = {ChangeKind::Gone}})),
            (Kinds{"!gone", "new"}));
  EXPECT_EQ(kinds(compare_with(baseline_of({}), {one()}, {})), Kinds{"new"});
  EXPECT_EQ(kinds(compare_with(baseline_of({one()}), {}, {})), Kinds{"gone"});
  // A file that cannot be read now is an error; its runs are not gone.
  auto const unreadable = unreadable_scenario("s.yaml", "sim", InputError("no"));
  EXPECT_EQ(kinds(compare_with(baseline_of({one()}), {unreadable}, {})), Kinds{});
}

TEST(Baseline, EstimatesAreComparedWithSimulationsAndMeasurementsWithMeasurements) {
  auto estimated = one();
  estimated.mode = "estimate";
  EXPECT_EQ(kinds(estimated, one()), Kinds{});
  auto measured = one("8 MB", "", 7);
  measured.mode = "hw";
  auto const both = compare_with(baseline_of({one()}), {one(), measured}, {});
  EXPECT_EQ(kinds(both), Kinds{}) << "the baseline measured nothing";
  EXPECT_EQ(both.compared, 1U);
  EXPECT_EQ(kinds(compare_with(baseline_of({one(), one()}), {one(), one()}, {})), Kinds{}) << "one name twice";
}

// An older file says neither how much was moved nor which run passed.
TEST(Baseline, OlderFilesAreRead) {
  auto json = verdict_json({one("8 MB", "expect: [{makespan: <= 1 ms}]\n")});
  json["scenarios"][0].erase("file");
  json["scenarios"][0]["runs"][0].erase("passed");
  json["scenarios"][0]["runs"][0]["decisions"][0].erase("bytes");
  auto const baseline = read_baseline(SourceText::from_memory("base.json", json.dump()));
  ASSERT_EQ(baseline.runs.size(), 1U);
  EXPECT_FALSE(baseline.runs[0].passed);
  EXPECT_EQ(kinds(compare_with(baseline, {one("16 MB", "expect: [{makespan: <= 9 ms}]\n")}, {})), Kinds{"fixed"});
}

std::string problem_of(std::string const& text) {
  try {
    (void)read_baseline(SourceText::from_memory("base.json", text));
  } catch (InputError const& error) {
    return error.what();
  }
  return "none";
}

TEST(Baseline, WhatIsWrongWithAFileIsSaidAtItsPlace) {
  EXPECT_THAT(problem_of("{\"lanewise\": \"verdict/1\",\n \"scenarios\": [}"),
              HasSubstr("base.json:2:16: error: not valid"));
  EXPECT_THAT(problem_of("{\n\"lanewise\": \"plan/2\"}"),
              AllOf(HasSubstr("base.json:2:1: error:"), HasSubstr("this is 'plan/2', but 'verdict/1' is needed here")));
  EXPECT_THAT(
      problem_of("{\"lanewise\": \"verdict/1\", \"scenaros\": []}"),
      AllOf(HasSubstr("base.json:1:1: error: the key 'scenarios' is missing"), HasSubstr("did you mean 'scenarios'?")));
  auto const with = [](std::string const& run, std::string const& mode = "sim") {
    return problem_of("{\"lanewise\": \"verdict/1\", \"scenarios\": [\n{\"scenario\": \"s\", \"mode\": \"" + mode +
                      "\", \"passed\": true,\n\"runs\": [\n" + run + "\n]}]}");
  };
  std::string const head = "{\"machine\": \"m\", \"variant\": \"\", \"passed\": true, ";
  EXPECT_EQ(with(head + "\"makespan_us\": 1}"), "none");
  EXPECT_THAT(with(head + "\"makespan_us\": 1}", "sym"),
              AllOf(HasSubstr("base.json:2:27: error: 'sym' is not allowed as 'mode'; did you mean 'sim'?"),
                    HasSubstr("allowed: sim, estimate, hw")));
  EXPECT_THAT(with(head + "\"makespan_us\": \"1 ms\"}"),
              AllOf(HasSubstr("base.json:4:64: error: a number of microseconds"), HasSubstr("not \"1 ms\"")));
  EXPECT_THAT(with(head + "\"makespan\": 1}"),
              AllOf(HasSubstr("base.json:4:1: error: the key 'makespan_us' is missing"),
                    HasSubstr("did you mean 'makespan_us'?")));
  EXPECT_THAT(with(head + "\"makespan_us\": 1, \"decisions\": {}}"), HasSubstr("error: a list is needed here"));
  EXPECT_THAT(with("7"), HasSubstr("base.json:4:1: error: an object is needed here, not 7"));
}

TEST(Baseline, TextHasRegressionsFirstAndInCapitals) {
  auto fresh = one();
  fresh.scenario = "a-new-one";
  auto const comparison = compare_with(baseline_of({one()}), {fresh, one("8 MB", "", 2)}, {});
  auto const text = baseline_text(comparison);
  EXPECT_THAT(
      text, AllOf(HasSubstr("compared with base.json (tolerance 2.0 %): runs in both: 1, unchanged: 0; 1 regression\n"),
                  HasSubstr("SLOWER  s"), HasSubstr("new     a-new-one")));
  EXPECT_LT(text.find("SLOWER"), text.find("a-new-one"));
  EXPECT_THAT(baseline_markdown(comparison),
              HasSubstr("| SLOWER | s | pair |  | makespan 4.00 ms, was 2.00 ms (+100.0 %) |"));
  auto const json = to_json(comparison);
  EXPECT_EQ(json.at("passed"), false);
  EXPECT_EQ(json.at("changes")[0].at("change"), "slower");
}

}  // namespace
}  // namespace lanewise
