// Simulation against hardware, both played by executors whose times the test chose.
#include "core/verdict/both_modes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/io/json.hpp"
#include "core/verdict/recorded_run.hpp"
#include "core/view/both_modes_text.hpp"
#include "core/view/verdict_text.hpp"
#include "lanewise/io/error.hpp"
#include "tests/verdict/noisy_executor.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::HasSubstr;
using testing::IsEmpty;

std::string const kOne = R"(lanewise: scenario/1
scenario: s
machines: [pair]
transfers:
  - {id: a, from: gpu0, to: gpu1, bytes: 8 MB}
)";
std::string const kWithSettings = kOne + R"(variants:
  - {name: plain}
  - {name: detour, settings: {acs: on}}
)";

// Steps arrive as `wrong` says.
class HardwareLike : public test::FakeExecutor {
 public:
  HardwareLike(test::Durations durations, std::string wrong)
      : FakeExecutor(std::move(durations)), wrong_(std::move(wrong)) {}
  Trace run(Plan const& plan) override {
    for (auto const& step : plan.steps)
      if (step.way.mechanism == Mechanism::SharedHost) throw MissingError("no pinned memory");
    auto trace = FakeExecutor::run(plan);
    trace.mode = "hw";
    for (auto& step : trace.steps) {
      step.verified = wrong_.empty();
      step.mismatch = wrong_;
    }
    return trace;
  }

 private:
  std::string wrong_;
};

test::Durations durations() {
  auto all = test::usual_durations();
  all[Mechanism::PcieP2p] = 300.0_us;
  return all;
}

struct Mode {
  test::Durations times = durations();
  bool on_hardware = false;
  std::string wrong = {};
  std::function<CompletedRun(std::string const&, std::string const&, Plan const&)> recorded = {};
};
ScenarioVerdict check_in(std::string const& text, Mode const& mode) {
  Catalogue catalogue({});
  CheckContext context{[](std::string const&) { return test::pair_machine(); },
                       [&](Model const&) -> std::unique_ptr<Executor> {
                         if (mode.on_hardware) return std::make_unique<HardwareLike>(mode.times, mode.wrong);
                         return std::make_unique<test::FakeExecutor>(mode.times);
                       },
                       catalogue, mode.on_hardware ? "hw" : "sim"};
  context.on_hardware = mode.on_hardware;
  context.recorded = mode.recorded;
  return check_scenario(read_scenario(SourceText::from_memory("s.yaml", text)), context);
}

TEST(BothModes, ErrorsAndAgreement) {
  auto slower = durations();
  slower[Mechanism::PcieP2p] = 400.0_us;
  auto const both = both_modes({check_in(kOne, {})}, {check_in(kOne, {.times = slower, .on_hardware = true})});
  ASSERT_EQ(both.size(), 1U);
  EXPECT_NEAR(both[0].comparison.steps.at(0).error(), 300.0 / 400 - 1, 1e-9);
  EXPECT_EQ(both[0].decisions, 1U);
  EXPECT_EQ(both[0].equal_decisions, 1U);
  EXPECT_THAT(both_modes_text(both),
              HasSubstr("of 1 decisions both modes prefer the same way in 1, 0 are within the noise"));
  EXPECT_NEAR(both_modes_json(both)["median_error"].get<double>(), 0.25, 1e-9);
  EXPECT_THAT(verdict_text({check_in(kOne, {}), check_in(kOne, {.times = slower, .on_hardware = true})}),
              HasSubstr("mode"));
}

// On hardware the staged way is the faster one: 100 us against 400.
TEST(BothModes, ADecisionThatHardwareWouldTakeOtherwise) {
  auto other = durations();
  other[Mechanism::PcieP2p] = 400.0_us;
  other[Mechanism::HostStaged] = 100.0_us;
  auto const both = both_modes({check_in(kOne, {})}, {check_in(kOne, {.times = other, .on_hardware = true})});
  EXPECT_EQ(both[0].equal_decisions, 0U);
  EXPECT_NEAR(both[0].worst_regret, 3.0, 1e-9);
  EXPECT_THAT(both[0].different.at(0), HasSubstr("on hardware host_staged"));
}

// Runs whose alternatives ran in turn on noisy hardware.
ScenarioVerdict measured_in_turn(test::Durations const& times, test::Noise const& noise) {
  Catalogue catalogue({});
  CheckContext context{[](std::string const&) { return test::pair_machine(); },
                       [&](Model const&) { return std::make_unique<test::NoisyExecutor>(times, noise); }, catalogue,
                       "hw"};
  context.in_turn = Alternation{};
  return check_scenario(read_scenario(SourceText::from_memory("s.yaml", kOne)), context);
}

TEST(BothModes, WhatTheNoiseHidesIsCountedApart) {
  auto close = durations();
  close[Mechanism::HostStaged] = 301.0_us;  // against 300 of the chosen way
  auto const measured = measured_in_turn(close, {.step = 0.1});
  auto const both = both_modes({check_in(kOne, {})}, {measured});
  EXPECT_EQ(both[0].decisions, 1U);
  EXPECT_EQ(both[0].within_noise, 1U);
  EXPECT_EQ(both[0].equal_decisions, 0U);
  EXPECT_THAT(both[0].different, IsEmpty());
  EXPECT_EQ(both_modes_json(both)["within_noise"], 1);
  EXPECT_THAT(verdict_text({measured}), HasSubstr("1 within noise, 0 worse"));
}

TEST(BothModes, AProvenRegretIsSaidWithItsInterval) {
  auto other = durations();
  other[Mechanism::HostStaged] = 200.0_us;
  auto const measured = measured_in_turn(other, {.step = 0.01});
  auto const both = both_modes({check_in(kOne, {})}, {measured});
  EXPECT_NEAR(both[0].worst_regret, 0.5, 0.05);
  auto const text = verdict_text({measured});
  EXPECT_THAT(text, HasSubstr("regret s on pair: a: host_staged"));
  EXPECT_THAT(text, HasSubstr("makes the makespan 33."));
  auto const json = verdict_json({measured});
  auto const& decision = json.at("scenarios").at(0).at("runs").at(0).at("decisions").at(0);
  EXPECT_EQ(decision.at("standing"), "worse");
  EXPECT_GT(decision.at("rivals").size(), 0U);
  EXPECT_EQ(recorded_runs_from_json(recorded_runs_json({measured})).front().regrets.front().rivals.front().way,
            measured.runs.front().regrets.front().rivals.front().way);
}

TEST(BothModes, TransfersWhoseRepetitionsDifferAreNamed) {
  EXPECT_THAT(verdict_text({measured_in_turn(durations(), {.step = 0.2})}),
              HasSubstr("noise s on pair: repetitions differ: a "));
}

TEST(BothModes, AlternativesThatCannotRunHereAreSaid) {
  auto const verdict = check_in(kOne, {.on_hardware = true});
  EXPECT_THAT(verdict.runs[0].regrets.at(0).not_run, testing::Contains("no pinned memory"));
  EXPECT_TRUE(verdict.passed());
}

TEST(BothModes, WrongBytesFail) {
  auto const verdict = check_in(kOne, {.on_hardware = true, .wrong = "the byte at offset 3 is 0x00 instead of 0x11"});
  EXPECT_FALSE(verdict.passed());
  EXPECT_THAT(verdict_text({verdict}), HasSubstr("offset 3"));
}

TEST(BothModes, SettingsDoNotChangeHardware) {
  auto const verdict = check_in(kWithSettings, {.on_hardware = true});
  EXPECT_TRUE(verdict.passed());
  EXPECT_TRUE(verdict.runs[0].ran());
  EXPECT_THAT(verdict.runs[1].skipped, HasSubstr("acs=on"));
  EXPECT_THAT(verdict_text({verdict}), HasSubstr("skip s on pair (detour)"));
  EXPECT_EQ(both_modes({check_in(kWithSettings, {})}, {verdict}).size(), 1U);
}

TEST(RecordedRuns, AreJudgedWhereTheHardwareIsNot) {
  auto const there = check_in(kOne, {.on_hardware = true});
  auto const json = recorded_runs_json({there});
  auto const runs = recorded_runs_from_json(json);
  auto const here = check_in(
      kOne, {.on_hardware = true, .recorded = [&](auto const& scenario, auto const& variant, Plan const& plan) {
               auto const& run = recorded_run(runs, scenario, variant, plan);
               return CompletedRun{run.trace, run.regrets, run.real_time};
             }});
  EXPECT_TRUE(here.passed());
  EXPECT_EQ(here.runs[0].trace, there.runs[0].trace);
  EXPECT_EQ(recorded_runs_json({here}), json);
}

TEST(RecordedRuns, OfVersion1AreRead) {
  auto const file = std::filesystem::path(LANEWISE_SOURCE_DIR) / "tests/verdict/fixtures/runs-1.json";
  auto const runs = read_recorded_runs(SourceText::load(file));
  ASSERT_EQ(runs.size(), 1);
  EXPECT_EQ(runs[0].scenario, "host-both-ways");
  EXPECT_EQ(runs[0].trace.mode, "hw");
  ASSERT_EQ(runs[0].trace.steps.size(), 2);
  EXPECT_EQ(runs[0].trace.steps[1].transfer, "out");
  EXPECT_EQ(runs[0].trace.steps[1].verified, true);
  ASSERT_EQ(runs[0].regrets.size(), 2);
  EXPECT_EQ(runs[0].regrets[0].best, "host_dma");
}

TEST(RecordedRuns, OfOtherScenariosAndMachinesAreRefused) {
  auto const there = check_in(kOne, {.on_hardware = true});
  auto runs = recorded_runs_from_json(recorded_runs_json({there}));
  EXPECT_THROW(recorded_run(runs, "other", "", there.runs[0].plan), PlanError);
  auto plan = there.runs[0].plan;
  plan.fingerprint = "0";
  EXPECT_THROW(recorded_run(runs, "s", "", plan), PlanError);
  plan = there.runs[0].plan;
  plan.steps[0].bytes = 1_MiB;
  EXPECT_THROW(recorded_run(runs, "s", "", plan), PlanError);
  EXPECT_THROW(recorded_runs_from_json({{"lanewise", "runs/1"}}), InputError);
}

}  // namespace
}  // namespace lanewise
