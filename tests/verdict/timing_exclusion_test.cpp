// Soft-RoCE on "hardware" whose times the test chose: bytes and routes are judged, times are reported.
#include "core/verdict/timing_exclusion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/interop/exports/junit.hpp"
#include "core/verdict/both_modes.hpp"
#include "core/view/both_modes_text.hpp"
#include "core/view/verdict_text.hpp"
#include "tests/support/bundled.hpp"
#include "tests/verdict/fake_executor.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Everything takes a second, as under emulation; `mismatch` is what is wrong with the bytes, empty: nothing.
class SlowNodes : public test::FakeExecutor {
 public:
  explicit SlowNodes(std::string mismatch) : FakeExecutor({{Mechanism::Rdma, 1.0_s}}), mismatch_(std::move(mismatch)) {}
  Trace run(Plan const& plan) override {
    auto trace = FakeExecutor::run(plan);
    for (auto& step : trace.steps) {
      step.verified = mismatch_.empty();
      step.mismatch = mismatch_;
    }
    trace.environment[kNodesEnvironmentKey] = "2 virtual machines (plain emulation)";
    return trace;
  }

 private:
  std::string mismatch_;
};

std::string const kOneTransfer = R"(lanewise: scenario/1
scenario: one
machines: [soft-roce-2]
transfers: [{id: a, from: node0/numa1, to: node1/numa1, bytes: 64 KiB}]
expect:
  - {mechanism: rdma, through: node0/nic2}
  - {latency: "<= 1 ms"}
  - {regret: "<= 1 %"}
)";

ScenarioVerdict verdict_of(std::string const& text, std::string const& mode, std::string const& mismatch = {}) {
  auto catalogue = test::bundled();
  CheckContext context{[&](std::string const& name) { return catalogue.machine(name); },
                       [&](Model const&) { return std::make_unique<SlowNodes>(mismatch); }, catalogue, mode};
  context.on_hardware = mode == "hw";
  return check_scenario(read_scenario(SourceText::from_memory("one.yaml", text)), context);
}

TEST(SoftNic, TimesAreReportedAndNotJudged) {
  auto const verdict = verdict_of(kOneTransfer, "hw");
  EXPECT_TRUE(verdict.passed());
  ASSERT_EQ(verdict.results.size(), 4U);
  EXPECT_TRUE(verdict.results[0].judged());
  EXPECT_TRUE(verdict.results[1].judged());
  EXPECT_FALSE(verdict.results[2].judged());
  EXPECT_FALSE(verdict.results[3].judged());
  EXPECT_THAT(verdict_text({verdict}),
              AllOf(HasSubstr("2/2"), HasSubstr("time one on soft-roce-2: a: latency <= 1 ms; found 1.00 s"),
                    HasSubstr("2 expectations checked"), HasSubstr("2 figures of time are reported and not judged"),
                    HasSubstr("soft-roce-2: 2 virtual machines (plain emulation)")));
}

TEST(SoftNic, InSimulationTimesAreJudged) {
  auto const verdict = verdict_of(kOneTransfer, "sim");
  EXPECT_FALSE(verdict.passed()) << "a second is more than a millisecond";
  EXPECT_THAT(verdict_text({verdict}), HasSubstr("expected a: latency <= 1 ms; found 1.00 s"));
}

TEST(SoftNic, WrongBytesAndWrongRoutesFail) {
  EXPECT_FALSE(verdict_of(kOneTransfer, "hw", "byte 7 is 0x00").passed());
  auto elsewhere = kOneTransfer;
  elsewhere.replace(elsewhere.find("through: node0/nic2"), 19, "through: node0/nic0");
  EXPECT_FALSE(verdict_of(elsewhere, "hw").passed());
}

TEST(SoftNic, MachineReportsSayWhatWasNotJudgedAndWhereItRan) {
  auto const verdict = verdict_of(kOneTransfer, "hw");
  auto const json = verdict_json({verdict});
  EXPECT_EQ(json.at("passed"), true);
  auto const& scenario = json.at("scenarios")[0];
  EXPECT_EQ(scenario.at("runs")[0].at("nodes"), "2 virtual machines (plain emulation)");
  EXPECT_EQ(scenario.at("results")[0].at("passed"), true);
  EXPECT_FALSE(scenario.at("results")[0].contains("not_judged"));
  EXPECT_TRUE(scenario.at("results")[2].at("passed").is_null());
  EXPECT_THAT(scenario.at("results")[2].at("not_judged").get<std::string>(), HasSubstr("Soft-RoCE"));
  EXPECT_THAT(
      junit_xml({verdict}),
      AllOf(HasSubstr("<property name=\"nodes\" value=\"soft-roce-2: 2 virtual machines (plain emulation)\""),
            HasSubstr("tests=\"5\" failures=\"0\" errors=\"0\" skipped=\"2\""), HasSubstr("not judged, Soft-RoCE")));
}

TEST(SoftNic, PredictionsAreNotHeldAgainstItsTimes) {
  auto const both = both_modes({verdict_of(kOneTransfer, "sim")}, {verdict_of(kOneTransfer, "hw")});
  ASSERT_EQ(both.size(), 1U);
  EXPECT_EQ(both[0].decisions, 0U);
  EXPECT_THAT(both_modes_text(both), AllOf(HasSubstr("these times are not judged (Soft-RoCE"),
                                           HasSubstr("1 runs in both modes"), Not(HasSubstr("steps: median error"))));
  EXPECT_FALSE(both_modes_json(both).contains("median_error"));
}

TEST(SoftNic, AClusterIsSoftWhereAllItsNicsAre) {
  auto catalogue = test::bundled();
  EXPECT_TRUE(is_soft_cluster(catalogue.machine("soft-roce-2")));
  EXPECT_TRUE(is_soft_cluster(catalogue.machine("soft-roce-3")));
  EXPECT_FALSE(is_soft_cluster(catalogue.machine("soft-roce-1nic"))) << "one node is no cluster";
  EXPECT_FALSE(is_soft_cluster(catalogue.machine("a30-2")));
}

}  // namespace
}  // namespace lanewise
