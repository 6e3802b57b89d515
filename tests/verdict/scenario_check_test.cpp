// Expectations against times that the test chose: a peer copy takes 2 ms, a staged one 1 ms, host to device 0.5 ms.
#include "lanewise/verdict/scenario_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanewise/io/error.hpp"
#include "tests/verdict/noisy_executor.hpp"

namespace lanewise {
namespace {

using test::check;
using test::usual_durations;
using testing::AllOf;
using testing::HasSubstr;

// One transfer of 8 MB, so 4 GB/s by peer access; two variants, of which the second takes another mechanism.
std::string one_scenario(std::string const& expectations) {
  return R"(lanewise: scenario/1
scenario: s
machines: [pair]
transfers:
  - {id: a, from: gpu0, to: gpu1, bytes: 8 MB, mechanism: pcie_p2p}
expect:
)" + expectations;
}

// A first, then b: 2 ms by peer access and 0.5 ms from host memory.
std::string two(std::string const& expectations) {
  return R"(lanewise: scenario/1
scenario: s
machines: [pair]
transfers:
  - {id: a, from: gpu0, to: gpu1, bytes: 8 MB, mechanism: pcie_p2p}
  - {id: b, from: numa0, to: gpu0, bytes: 8 MB, mechanism: host_dma, after: [a]}
variants:
  - {name: direct}
  - {name: detour, settings: {acs: on}}
expect:
)" + expectations;
}

std::vector<bool> outcomes(ScenarioVerdict const& verdict) {
  std::vector<bool> all;
  for (auto const& result : verdict.results) all.push_back(result.passed);
  return all;
}
std::vector<bool> outcomes(std::string const& text) { return outcomes(check(text, usual_durations())); }
using Is = std::vector<bool>;

TEST(ScenarioCheck, Mechanism) {
  auto const verdict =
      check(one_scenario("  - {mechanism: pcie_p2p}\n  - {mechanism: [nvlink, pcie_p2p]}\n  - {mechanism: nvlink}\n"),
            usual_durations());
  EXPECT_EQ(outcomes(verdict), (Is{true, true, false}));
  EXPECT_FALSE(verdict.passed());
  EXPECT_EQ(verdict.results[0].what, "a: mechanism pcie_p2p");
  EXPECT_EQ(verdict.results[2].what, "a: mechanism nvlink");
  EXPECT_THAT(verdict.results[2].found, HasSubstr("pcie_p2p"));
  EXPECT_EQ(verdict.results[2].pos, (SourcePos{"s.yaml", 9, 5}));
}

TEST(ScenarioCheck, RouteByKindAndByName) {
  EXPECT_EQ(outcomes(one_scenario(
                "  - {avoids: root_complex}\n  - {avoids: switch}\n  - {avoids: sw0}\n  - {through: sw0}\n  - "
                "{through: [switch, gpu1]}\n  - {through: rp0}\n")),
            (Is{true, false, false, true, true, true, false}));
  EXPECT_EQ(outcomes(two("  - {transfer: a, through: root_complex}\n")), (Is{false, true}));  // ACS sends it up
  EXPECT_EQ(
      outcomes(two("  - {variant: direct, transfer: b, through: [host_memory, numa0, root_port], avoids: gpu1}\n")),
      (Is{true, true, true, true}));
}

TEST(ScenarioCheck, Refusal) {
  // Without `mechanism` every way is evaluated.
  std::string const text = R"(lanewise: scenario/1
scenario: s
machines: [pair]
transfers: [{id: a, from: gpu0, to: gpu1, bytes: 8 MB}]
expect:
  - {refuses: {nvlink: NVLINK-NONE}}
  - {refuses: {nvlink: P2P-SOCKET}}
  - {refuses: {pcie_p2p: P2P-SOCKET}}
  - {refuses: {rdma: P2P-SOCKET}}
)";
  auto const verdict = check(text, usual_durations());
  EXPECT_EQ(outcomes(verdict), (Is{true, false, false, false}));
  EXPECT_EQ(verdict.results[1].found, "NVLINK-NONE");
  EXPECT_EQ(verdict.results[2].found, "legal");
  EXPECT_EQ(verdict.results[3].found, "not weighed");
}

TEST(ScenarioCheck, Bandwidth) {
  EXPECT_EQ(
      outcomes(one_scenario("  - {transfer: a, bandwidth: = 4 GB/s}\n  - {transfer: a, bandwidth: '>= 4.1 GB/s'}\n")),
      (Is{true, false}));
  // Of the whole run: 16 MB in 2.5 ms.
  EXPECT_EQ(
      outcomes(
          two("  - {variant: direct, bandwidth: = 6.4 GB/s}\n  - {variant: direct, bandwidth: 6.5 GB/s .. 9 GB/s}\n")),
      (Is{true, false}));
}

TEST(ScenarioCheck, Latency) {
  EXPECT_EQ(outcomes(two("  - {variant: direct, transfer: b, latency: = 500 us}\n  - {variant: direct, transfer: b, "
                         "latency: <= 499 us}\n")),
            (Is{true, false}));
}

TEST(ScenarioCheck, Makespan) {
  EXPECT_EQ(outcomes(two("  - {variant: direct, makespan: = 2.5 ms}\n  - {variant: direct, makespan: '>= 2.6 ms'}\n")),
            (Is{true, false}));
}

TEST(ScenarioCheck, RegretIsOfTheTimesThatWereRun) {
  // The planner takes the peer way, for 2 ms; the staged one, which it evaluated too, takes 1 ms: 100 % longer.
  auto const text = [](std::string const& bound) {
    return "lanewise: scenario/1\nscenario: s\nmachines: [pair]\ntransfers: [{id: a, from: gpu0, to: gpu1, bytes: 256 "
           "MiB}]\nexpect: [{mechanism: pcie_p2p}, {transfer: a, regret: " +
           bound + "}, {regret: " + bound + "}]\n";
  };
  auto const verdict = check(text("= 100 %"), usual_durations());
  EXPECT_EQ(outcomes(verdict), (Is{true, true, true}));
  ASSERT_EQ(verdict.runs[0].regrets.size(), 1U);
  auto const& regret = verdict.runs[0].regrets[0];
  EXPECT_THAT(regret.best, HasSubstr("host_staged"));
  EXPECT_DOUBLE_EQ(regret.chosen_makespan.value(), 2e-3);
  EXPECT_DOUBLE_EQ(regret.best_makespan.value(), 1e-3);
  EXPECT_EQ(outcomes(text("<= 99 %")), (Is{true, false, false}));
  // Nothing is better than the choice: no regret.
  auto durations = usual_durations();
  durations[Mechanism::HostStaged] = Seconds(3e-3);
  EXPECT_EQ(outcomes(check(text("<= 0 %"), durations)), (Is{true, true, true}));
}

TEST(ScenarioCheck, ABoundRelativeToAVariant) {
  auto const text = [](std::string const& bound) {
    return "lanewise: scenario/1\nscenario: s\nmachines: [pair]\ntransfers: [{id: a, from: gpu0, to: gpu2, bytes: 8 "
           "MB}]\nvariants:\n  - {name: plain}\n  - {name: slow, settings: {software.cuda: on, link@gpu2: gen1 x1}}\n"
           "expect:\n  - {variant: slow, latency: \"" +
           bound + "\"}\n";
  };
  // The fake takes the same time in both.
  EXPECT_EQ(outcomes(text("= 1 x plain")), (Is{true}));
  auto const failed = check(text(">= 1.8 x plain"), usual_durations());
  EXPECT_EQ(outcomes(failed), (Is{false}));
  EXPECT_THAT(failed.results[0].found, HasSubstr("which is 1 x "));
}

TEST(ScenarioCheck, ABoundRelativeToATransferOrBoth) {
  // a takes 2 ms, b 0.5 ms.
  EXPECT_EQ(outcomes(two("  - {variant: detour, transfer: a, latency: = 4 x b}\n  - {variant: detour, transfer: a, "
                         "latency: <= 3.9 x b}\n")),
            (Is{true, false}));
  EXPECT_EQ(outcomes(two("  - {variant: detour, transfer: b, latency: = 0.25 x direct/a}\n  - {variant: detour, "
                         "transfer: b, latency: '>= 0.26 x direct/a'}\n")),
            (Is{true, false}));
  EXPECT_EQ(outcomes(two("  - {variant: detour, transfer: b, bandwidth: = 4 x direct/a}\n")), (Is{true}));
}

TEST(ScenarioCheck, AnExpectationWithoutAVariantHoldsInEach) {
  auto const verdict = check(two("  - {makespan: = 2.5 ms}\n"), usual_durations());
  ASSERT_EQ(verdict.results.size(), 2U);
  EXPECT_EQ(verdict.results[0].variant, "direct");
  EXPECT_EQ(verdict.results[1].variant, "detour");
  EXPECT_TRUE(verdict.passed());
}

TEST(ScenarioCheck, WithoutALegalWayEveryExpectationFails) {
  auto const text =
      "lanewise: scenario/1\nscenario: s\nmachines: [pair]\ntransfers: [{id: a, from: gpu0, to: gpu1, bytes: 8 MB, "
      "mechanism: nvlink}]\n";
  auto const verdict = check(text + std::string("expect: [{makespan: <= 1 s}]\n"), usual_durations());
  EXPECT_THAT(verdict.runs[0].failure, HasSubstr("a"));
  EXPECT_THAT(verdict.runs[0].failure, HasSubstr("NVLINK-NONE"));
  EXPECT_EQ(outcomes(verdict), (Is{false}));
  EXPECT_FALSE(verdict.passed());
  EXPECT_FALSE(check(text, usual_durations()).passed()) << "a run that failed is a failure without expectations too";
}

TEST(ScenarioCheck, AVariantThatDidNotRunFailsWhatRefersToIt) {
  auto const text = R"(lanewise: scenario/1
scenario: s
machines: [pair]
transfers: [{id: a, from: gpu0, to: gpu1, bytes: 8 MB, mechanism: pcie_p2p}]
variants:
  - {name: plain}
  - {name: translated, settings: {iommu: lazy}}
expect:
  - {variant: plain, makespan: <= 2 x translated}
)";
  auto const verdict = check(text, usual_durations());
  ASSERT_NE(verdict.runs[1].failure, "");
  ASSERT_EQ(verdict.results.size(), 1U);
  EXPECT_FALSE(verdict.results[0].passed);
  EXPECT_THAT(verdict.results[0].found, HasSubstr("'translated' did not run"));
}

TEST(ScenarioCheck, AnUnknownHopWordIsAnError) {
  for (auto const* key : {"avoids", "through"}) {
    auto const verdict = check(one_scenario(std::string("  - {") + key + ": root_komplex}\n"), usual_durations());
    EXPECT_FALSE(verdict.passed());
    EXPECT_TRUE(verdict.runs.empty());
    ASSERT_EQ(verdict.errors.size(), 1U) << key;
    EXPECT_EQ(verdict.errors[0].machine, "pair");
    EXPECT_EQ(verdict.errors[0].pos, (SourcePos{"s.yaml", 7, 5}));
    EXPECT_THAT(
        verdict.errors[0].message,
        AllOf(HasSubstr("s.yaml:7:5: error:"),
              HasSubstr("'root_komplex' is neither a kind of hop nor a name on 'pair'"), HasSubstr("root_complex")));
  }
}

TEST(ScenarioCheck, AScenarioWithoutAMachineIsAnError) {
  auto const verdict =
      check("lanewise: scenario/1\nscenario: s\ntransfers: [{id: a, from: gpu0, to: gpu1, bytes: 8 MB}]\n",
            usual_durations());
  ASSERT_EQ(verdict.errors.size(), 1U);
  EXPECT_EQ(verdict.errors[0].pos, (SourcePos{"s.yaml", 2, 11}));
  EXPECT_FALSE(verdict.passed());
}

TEST(ScenarioCheck, AnUnknownMachineIsAnErrorAtItsPlaceAndTheOthersAreChecked) {
  Catalogue catalogue({});
  CheckContext const context{[](std::string const& name) {
                               if (name != "pair") throw InputError("no machine is called '" + name + "'");
                               return test::pair_machine();
                             },
                             [](Model const&) { return std::make_unique<test::FakeExecutor>(usual_durations()); },
                             catalogue, "fake"};
  auto const text = R"(lanewise: scenario/1
scenario: s
machines: [pear, pair]
transfers: [{id: a, from: gpu0, to: gpu1, bytes: 8 MB}]
expect: [{makespan: <= 1 s}]
)";
  auto const verdict = check_scenario(read_scenario(SourceText::from_memory("s.yaml", text)), context);
  ASSERT_EQ(verdict.errors.size(), 1U);
  EXPECT_EQ(verdict.errors[0].machine, "pear");
  EXPECT_EQ(verdict.errors[0].message, "s.yaml:3:12: error: no machine is called 'pear'");
  ASSERT_EQ(verdict.runs.size(), 1U);
  EXPECT_EQ(outcomes(verdict), (Is{true}));
  EXPECT_TRUE(verdict.passed(verdict.runs[0]));
  EXPECT_FALSE(verdict.passed());
}

TEST(ScenarioCheck, WhatFailsNamesItsKeyAndTheRulesOfTheWay) {
  // The second variant sends the copy up to the root complex.
  auto const verdict = check(two("  - {variant: detour, transfer: a, avoids: root_complex}\n"), usual_durations());
  ASSERT_EQ(verdict.results.size(), 1U);
  EXPECT_EQ(verdict.results[0].key, "avoids");
  EXPECT_EQ(verdict.results[0].rules, (std::vector<std::string>{"P2P-ACS-REDIRECT"}));
  EXPECT_THAT(verdict.results[0].explanation(), HasSubstr("(rules: P2P-ACS-REDIRECT)"));
  auto const refused = check(
      "lanewise: scenario/1\nscenario: s\nmachines: [pair]\ntransfers: [{id: a, from: gpu0, to: gpu1, bytes: 8 MB, "
      "mechanism: nvlink}]\nexpect: [{makespan: <= 1 s}]\n",
      usual_durations());
  EXPECT_EQ(refused.runs[0].refusing_rules(), (std::vector<std::string>{"NVLINK-NONE"}));
  EXPECT_EQ(refused.results[0].key, "plan");
}

// On hardware a figure fails only if all of its interval does: the median of seven copies that differ by 10 %.
TEST(ScenarioCheck, AFigureOnlyFailsBeyondItsNoise) {
  auto const verdict = [](std::string const& latency) {
    Catalogue catalogue({});
    CheckContext const context{[](std::string const&) { return test::pair_machine(); },
                               [](Model const&) {
                                 return std::make_unique<test::NoisyExecutor>(test::usual_durations(),
                                                                              test::Noise{.step = 0.1});
                               },
                               catalogue, "hw"};
    auto const text = R"(lanewise: scenario/1
scenario: s
machines: [pair]
transfers:
  - {id: in, from: numa0, to: gpu0, bytes: 8 MB}
expect:
  - {latency: ")" + latency +
                      "\"}\n";
    return check_scenario(read_scenario(SourceText::from_memory("s.yaml", text)), context);
  };
  auto const close = verdict("<= 450 us");  // of 500
  EXPECT_TRUE(close.passed()) << close.results.front().found;
  EXPECT_THAT(close.results.front().found, HasSubstr("within its noise"));
  EXPECT_FALSE(verdict("<= 250 us").passed());
  EXPECT_THAT(verdict("<= 900 us").results.front().found, testing::Not(HasSubstr("noise")));
}

}  // namespace
}  // namespace lanewise
