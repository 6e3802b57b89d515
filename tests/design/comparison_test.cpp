#include "core/design/comparison.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/view/design_text.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

DesignBrief brief_of(std::string const& rest) {
  return read_design_brief(SourceText::from_memory("b.yaml", "lanewise: design/1\ndesign: d\n" + rest));
}

constexpr char kTwo[] =
    "candidates: [{machine: hgx-h100}, {machine: hgx-b200}]\n"
    "jobs: [{collective: all_reduce, bytes: 1 GiB, weight: 3}, {collective: all_to_all, bytes: 64 MiB}]\n";

DesignComparison compare(DesignBrief const& brief, PriceList const* prices = nullptr, std::uint64_t seed = 1) {
  auto catalogue = test::bundled();
  ResultStore store;
  return compare_candidates(brief,
                            {.catalogue = catalogue, .store = store, .prices = prices, .draws = 20, .seed = seed});
}

PriceList prices_of(std::string const& items) {
  return read_prices(SourceText::from_memory(
      "p.yaml", "lanewise: prices/1\nprices: p\ndate: 2026-11-01\nsource: a quote\nitems:\n" + items));
}

TEST(Design, RanksByTheWeightedGeometricMean) {
  auto const all = compare(brief_of(kTwo));
  ASSERT_EQ(all.candidates.size(), 2U);
  auto const& best = all.candidates[0];
  auto const& other = all.candidates[1];
  EXPECT_EQ(best.candidate.name, "hgx-b200");
  EXPECT_DOUBLE_EQ(best.score, 1);
  double logarithm = 0;
  for (std::size_t j = 0; j < 2; ++j) {
    auto const ratio = best.jobs[j].figures->time / other.jobs[j].figures->time;
    EXPECT_DOUBLE_EQ(other.jobs[j].ratio, 1 / ratio);
    logarithm += (j == 0 ? 3 : 1) * std::log(ratio) / 4;
  }
  EXPECT_NEAR(other.score, std::exp(logarithm), 1e-12);
  EXPECT_EQ(best.gpus, 8U);
  EXPECT_NEAR(best.pairs.worst_pair_rate->value() / 1e9, 770, 40);  // any pair over NVLink 5
  EXPECT_GT(*best.pairs.bisection, *other.pairs.bisection);
}

TEST(Design, FrontKeepsWhatNothingBeatsInEveryWay) {
  auto const prices = prices_of(
      "  - {what: hgx-h100, price: 200000 USD}\n  - {what: hgx-b200, price: 400000 USD}\n"
      "  - {what: hgx-h800, price: 300000 USD}\n");
  auto const all = compare(brief_of("candidates: [{machine: hgx-h100}, {machine: hgx-b200}, {machine: hgx-h800}]\n"
                                    "jobs: [{collective: all_reduce, bytes: 1 GiB}]\nlibrary: nccl\n"
                                    "limits: {price: \"<= 250000 USD\"}\n"),
                           &prices);
  auto const find = [&](std::string const& name) {
    return *std::find_if(all.candidates.begin(), all.candidates.end(),
                         [&](auto const& c) { return c.candidate.name == name; });
  };
  EXPECT_TRUE(find("hgx-b200").on_front);   // the fastest
  EXPECT_TRUE(find("hgx-h100").on_front);   // the cheapest
  EXPECT_FALSE(find("hgx-h800").on_front);  // slower and dearer than hgx-h100
  EXPECT_TRUE(find("hgx-h100").meets_limits());
  EXPECT_THAT(find("hgx-b200").broken_limits, testing::ElementsAre("price 400,000 USD above 250,000 USD"));
  EXPECT_TRUE(all.any_meets_limits());
  EXPECT_TRUE(find("hgx-h100").jobs[0].best.has_value());
}

TEST(Design, AnUnknownPriceMeetsNoLimit) {
  auto const all = compare(brief_of(std::string(kTwo) + "limits: {price: \"<= 9 USD\", power: \"<= 100 kW\"}\n"));
  EXPECT_FALSE(all.any_meets_limits());
  EXPECT_THAT(all.candidates[0].broken_limits[0], HasSubstr("price unknown of b200-sxm-180g"));
}

TEST(Design, ACandidateThatFailsDoesNotEndTheComparison) {
  auto const all =
      compare(brief_of("candidates: [{machine: hgx-h100}, {machine: hgx-h100, set: {off@gpu9: true}}]\n"
                       "jobs: [{collective: all_reduce, bytes: 1 GiB}]\n"));
  EXPECT_THAT(all.candidates[0].failure, IsEmpty());
  EXPECT_THAT(all.candidates[1].failure, HasSubstr("gpu9"));
  EXPECT_THAT(design_text(all), HasSubstr("not evaluated: hgx-h100 off@gpu9=true"));
}

TEST(Design, AJobThatNobodyCanDoMeetsNoLimits) {
  auto const all =
      compare(brief_of("candidates: [{machine: hgx-h100}]\njobs:\n  - {collective: all_reduce, bytes: 1 GiB}\n"
                       "  - {workload: {model: llama-3-70b, mode: prefill, parallel: {tp: 16}, batch: {prompt: 64}, "
                       "compute: {mfu: 50 %}}}\n"));
  EXPECT_FALSE(all.any_meets_limits());
  EXPECT_THAT(all.candidates[0].broken_limits, testing::ElementsAre("llama-3-70b-prefill is impossible"));
}

// Fitted on whatever is compared, every candidate would take as long.
TEST(Design, AFittedStepNamesItsMachine) {
  std::string const fitted =
      "{model: llama-3.1-8b, mode: train, parallel: {tp: 8}, batch: {global: 8, sequence: 4096}, "
      "compute: {fitted: {step_time: 1 s";
  auto const brief = [&](std::string const& more) {
    return brief_of("candidates: [{machine: hgx-h100}, {machine: hgx-b200}]\njobs: [{workload: " + fitted + more +
                    "}}}}]\n");
  };
  EXPECT_THAT(compare(brief("")).candidates[0].jobs[0].failure, HasSubstr("add 'machine' to 'fitted'"));
  auto const all = compare(brief(", machine: hgx-h100"));
  EXPECT_NEAR(all.candidates[1].jobs[0].figures->time.value(), 1, 1e-6);
  EXPECT_LT(all.candidates[0].jobs[0].figures->time, Seconds(0.6));  // the same mfu of 2.3 times the peak
}

TEST(Design, SettingsBelongToCandidates) {
  auto const all =
      compare(brief_of("candidates: [{machine: rtx6000pro-x8-bcm}]\n"
                       "jobs: [{scenario: acs-halves-bidirectional-p2p}]\n"));
  EXPECT_THAT(all.candidates[0].jobs[0].failure, HasSubstr("give them to the candidates"));
}

TEST(Design, AmdDoesByRcclWhatNvidiaDoesByNccl) {
  auto const all =
      compare(brief_of("candidates: [{machine: mi300x-x8}]\nlibrary: nccl\n"
                       "jobs: [{collective: all_reduce, bytes: 1 GiB}]\n"));
  EXPECT_TRUE(all.candidates[0].jobs[0].figures.has_value()) << all.candidates[0].jobs[0].failure;
}

TEST(Design, SensitivityIsTheSameForTheSameSeed) {
  auto const brief = brief_of(std::string(kTwo) + "sensitivity: yes\n");
  auto const first = compare(brief, nullptr, 7);
  auto const again = compare(brief, nullptr, 7);
  auto const other = compare(brief, nullptr, 8);
  EXPECT_EQ(design_json(first), design_json(again));
  ASSERT_EQ(first.sensitivity->duels.size(), 1U);
  EXPECT_DOUBLE_EQ(first.sensitivity->duels[0].share, 1);  // NVLink 5 is twice NVLink 4, whatever the figures
  EXPECT_FALSE(first.sensitivity->swings.empty());
  EXPECT_EQ(other.sensitivity->seed, 8U);
}

// Two candidates that are the same machine: nobody can say which is better.
TEST(Design, EqualCandidatesStayUndecided) {
  auto const all =
      compare(brief_of("candidates: [{machine: hgx-h100, name: a}, {machine: hgx-h100, name: b}]\n"
                       "jobs: [{collective: all_reduce, bytes: 1 GiB}]\nsensitivity: yes\n"));
  EXPECT_DOUBLE_EQ(all.candidates[0].score, all.candidates[1].score);
  EXPECT_THAT(design_text(all), HasSubstr("a beats b in 0 %: undecided"));
}

TEST(Design, ARangeHoldsTheTime) {
  auto const all = compare(brief_of(kTwo));
  for (auto const& candidate : all.candidates)
    for (auto const& job : candidate.jobs) {
      ASSERT_TRUE(job.figures->range.has_value());
      EXPECT_LT(job.figures->range->low, job.figures->time);
      EXPECT_GT(job.figures->range->high, job.figures->time);
    }
}

// Twelve candidates: ten are looked at in detail, those that meet the limits before all others.
TEST(Design, TheTenBestThatMeetTheLimitsAreEvaluatedInDetail) {
  std::string text = "limits: {power: \"<= 6 kW\"}\njobs: [{collective: all_reduce, bytes: 64 MiB}]\ncandidates:\n";
  for (int i = 0; i < 12; ++i)
    text += "  - {machine: hgx-h100, name: c" + std::to_string(i) + ", power: " + (i < 9 ? "9" : "5") +
            " kW, set: {count@nvlink.gpu0: " + std::to_string(18 - i) + "}}\n";
  auto const all = compare(brief_of(text));
  std::vector<std::string> detailed;
  for (auto const& candidate : all.candidates)
    if (candidate.is_final) detailed.push_back(candidate.candidate.name);
  EXPECT_THAT(detailed, testing::ElementsAre("c0", "c1", "c2", "c3", "c4", "c5", "c6", "c9", "c10", "c11"));
  EXPECT_EQ(all.candidates[10].candidate.name, "c7");
  EXPECT_FALSE(all.candidates[10].jobs[0].figures->range.has_value());
  EXPECT_THAT(design_text(all), HasSubstr("2 more candidates were estimated; the best of them is c7"));
  EXPECT_EQ(design_json(all)["candidates"].size(), 12U);
}

TEST(Design, WhatWasEvaluatedIsNotEvaluatedAgain) {
  auto catalogue = test::bundled();
  ResultStore store;
  DesignContext const context{.catalogue = catalogue, .store = store};
  auto const first = compare_candidates(brief_of(kTwo), context);
  auto const evaluations = store.size();
  auto const again = compare_candidates(brief_of(kTwo), context);
  EXPECT_EQ(design_json(first), design_json(again));
  EXPECT_EQ(store.size(), evaluations);
  // One job more: only that one is new, of two candidates.
  compare_candidates(brief_of("candidates: [{machine: hgx-h100}, {machine: hgx-b200}]\n"
                              "jobs: [{collective: all_reduce, bytes: 1 GiB, weight: 7, name: sums}, "
                              "{collective: all_to_all, bytes: 64 MiB}, {collective: all_gather, bytes: 1 GiB}]\n"),
                     context);
  EXPECT_EQ(store.size(), evaluations + 2);
}

// Evaluates with the store of an earlier comparison; the result must be that of a fresh one.
void expect_nothing_old_is_used(std::string const& before, std::string const& after) {
  test::TemporaryFolder const folder;
  auto const evaluate = [&](std::string const& machine, ResultStore& store) {
    auto const file = folder.with("mine.yaml", machine);
    auto catalogue = test::bundled();
    auto const brief =
        brief_of("candidates: [{machine: " + file.string() +
                 "}]\njobs:\n  - {workload: {model: llama-3.1-8b, mode: prefill, parallel: {tp: 2}, batch: "
                 "{prompt: 1024}, compute: {mfu: 50 %}}}\n");
    return design_json(compare_candidates(brief, {.catalogue = catalogue, .store = store}));
  };
  ResultStore kept;
  auto const first = evaluate(before, kept);
  ResultStore fresh;
  auto const expected = evaluate(after, fresh);
  EXPECT_NE(first["candidates"][0]["jobs"], expected["candidates"][0]["jobs"]);
  EXPECT_EQ(evaluate(after, kept)["candidates"][0]["jobs"], expected["candidates"][0]["jobs"]);
}

TEST(Design, ResultsOfAnotherMachineAreNotUsed) {
  auto const machine = [](std::string const& rate, std::string const& link) {
    return "lanewise: machine/1\nmachine: mine\nsettings: {acs: off, iommu: pt, virtualization: none}\nparts:\n"
           "  own: {kind: gpu, vendor: nvidia, link: gen5 x16, latency: 130 ns, fp16_rate: " +
           rate +
           ", memory_bandwidth: 3000 GB/s}\nsockets:\n  - socket: cpu0\n    part: epyc-9575f\n    pcie:\n"
           "      - {root_port: rp0, gpu: gpu0, part: own, link: " +
           link + "}\n      - {root_port: rp1, gpu: gpu1, part: own, link: " + link +
           "}\nsoftware: {cuda: true, peermem: true}\n";
  };
  expect_nothing_old_is_used(machine("756 TFLOP/s", "gen5 x16"), machine("400 TFLOP/s", "gen5 x16"));
  expect_nothing_old_is_used(machine("756 TFLOP/s", "gen5 x16"), machine("756 TFLOP/s", "gen5 x8"));
}

TEST(Sensitivity, FindsTheFigureThatDecides) {
  // The first leads while NVLink is fast, and by 10 % where nothing is moved.
  std::vector<std::vector<double>> scores;
  for (auto const& assumed : sensitivity_samples(2000, 1))
    scores.push_back({1.1 * std::pow(assumed(Parameter::NvlinkEfficiency), 3), 1});
  auto const found = find_sensitivity(scores, {0, 1}, 1);
  EXPECT_EQ(found.draws, 2000U);
  ASSERT_EQ(found.swings.size(), 1U);
  EXPECT_EQ(found.swings[0].parameter, Parameter::NvlinkEfficiency);
  EXPECT_TRUE(found.swings[0].decides());
  // It wins while the factor is above 1.1^(-1/3): -0.0318 in logarithms, where 0.93 is the fifth percentile.
  auto const deviations = std::log(1.1) / 3 / (-std::log(0.93) / 1.645);
  EXPECT_NEAR(found.duels[0].share, 0.5 * std::erfc(-deviations / std::sqrt(2)), 0.03);
}

FaultReport faults_of(Machine const& machine, std::vector<DesignJob> const& jobs, FaultScope scope) {
  auto catalogue = test::bundled();
  ResultStore store;
  Evaluator evaluator(catalogue, store, {});
  DesignCandidate const candidate{.name = machine.name, .machine = machine.name, .settings = {}, .power = {}};
  Subject const subject{.candidate = std::make_shared<DesignCandidate const>(candidate),
                        .fingerprint = evaluation_fingerprint(machine)};
  FaultStudy const study(machine, subject, jobs, {}, scope, evaluator);
  evaluator.run("evaluating failures");
  return study.report();
}

TEST(Faults, EveryComponentIsLostOrHalvedOnce) {
  auto catalogue = test::bundled();
  auto const machine = catalogue.machine("hgx-h100");
  std::vector<DesignJob> const jobs{job_named("all_reduce:256 MiB")};
  auto const report = faults_of(machine, jobs, FaultScope::Each);
  auto const find = [&](std::string const& what) {
    return std::find_if(report.losses.begin(), report.losses.end(),
                        [&](auto const& loss) { return loss.fault.what == what; });
  };
  auto const half = find("half of nvlink.gpu0");
  ASSERT_NE(half, report.losses.end());
  EXPECT_EQ(half->alike, 8);
  EXPECT_NEAR(*half->ratios[0], 2, 0.1);  // its own link has half the rate
  ASSERT_NE(find("gpu0 lost"), report.losses.end());
  EXPECT_LT(report.resilience, 1);
  EXPECT_GE(report.losses.back().kept, report.losses.front().kept);
}

TEST(Faults, OfAClusterOneNodeStandsForAll) {
  auto catalogue = test::bundled();
  auto const faults = single_faults(catalogue.machine("hgx-h100-16"));
  auto const has = [&](std::string const& what) {
    return std::any_of(faults.begin(), faults.end(), [&](Fault const& fault) { return fault.what == what; });
  };
  EXPECT_TRUE(has("node0 lost"));
  EXPECT_TRUE(has("node0/nic3 lost"));
  EXPECT_FALSE(has("node1/nic3 lost"));
  EXPECT_TRUE(has("leaf0.rail0 lost"));
  EXPECT_FALSE(has("leaf0.rail1 lost"));
}

// Two of four GPUs in bridged pairs: which two are lost decides.
TEST(Faults, PairsAreWorseThanTheirPartsAlone) {
  auto catalogue = test::bundled();
  auto const machine = catalogue.machine("h100-nvl-pairs");
  std::vector<DesignJob> const jobs{job_named("all_reduce:64 MiB")};
  auto const singles = faults_of(machine, jobs, FaultScope::Each);
  auto const pairs = faults_of(machine, jobs, FaultScope::Pairs);
  EXPECT_GT(pairs.failures, 2 * singles.failures);
  EXPECT_LE(pairs.worst_kept, singles.worst_kept);
  EXPECT_LT(pairs.resilience, singles.resilience);
  EXPECT_EQ(pairs.losses.front().fault.settings.size(), 2U);
  for (auto const& fault : double_faults(machine))
    EXPECT_NE(fault.settings[0].key.substr(fault.settings[0].key.find('@')),
              fault.settings[1].key.substr(fault.settings[1].key.find('@')))
        << fault.what;
}

TEST(Bill, CountsPartsCablesAndLanes) {
  auto catalogue = test::bundled();
  auto const machine = catalogue.machine("hgx-h100-2");
  auto const prices = prices_of("  - {what: h100-sxm5-80g, price: 28000 USD}\n");
  auto const bill = bill_of(machine, machine.name, &prices);
  EXPECT_EQ(bill.lines.front().kind, "gpu");
  EXPECT_EQ(bill.lines.front().count, 16);
  EXPECT_EQ(bill.lines.front().price, (Money{28000, "USD"}));
  EXPECT_FALSE(bill.price.has_value());  // not everything has a price
  EXPECT_FALSE(bill.without_price.empty());
  ASSERT_FALSE(bill.cables.empty());
  EXPECT_EQ(bill.cables.front().count, 16);
  EXPECT_FALSE(bill.lanes.empty());
}

TEST(Bill, CablesHaveTwoOptics) {
  auto catalogue = test::bundled();
  auto const machine = catalogue.machine("hgx-h100-2");
  std::string items = "  - {what: nic-cable, price: 100 USD}\n  - {what: optic, price: 400 USD}\n";
  for (auto const& line : bill_of(machine, machine.name, nullptr).lines)
    items += "  - {what: " + line.part + ", price: 1 USD}\n";
  auto const prices = prices_of(items);
  auto const bill = bill_of(machine, machine.name, &prices);
  EXPECT_EQ(bill.cables.front().price, (Money{900, "USD"}));
  int parts = 0;
  for (auto const& line : bill.lines) parts += line.count;
  EXPECT_EQ(bill.price, (Money{16 * 900.0 + parts, "USD"}));
  // Without a price of its cables nobody knows what it costs.
  auto const parts_only = prices_of(items.substr(items.find("optic") - 11));
  EXPECT_FALSE(bill_of(machine, machine.name, &parts_only).price.has_value());
  EXPECT_THAT(bill_of(machine, machine.name, &parts_only).without_price, testing::ElementsAre("nic-cable"));
}

TEST(Prices, NeedDateAndSource) {
  auto const error = [](std::string const& text) {
    return test::input_error(
        [&] { read_prices(SourceText::from_memory("p.yaml", "lanewise: prices/1\nprices: p\n" + text)); });
  };
  EXPECT_THAT(error("items: [{what: a, price: 3 USD, source: x}]\n"), HasSubstr("the price of 'a' has no date"));
  EXPECT_THAT(error("items: [{what: a, price: 3 USD, date: 2026-11-01}]\n"), HasSubstr("has no source"));
  EXPECT_THAT(error("date: yesterday\nsource: x\nitems: [{what: a, price: 3 USD}]\n"), HasSubstr("is no date"));
  EXPECT_THAT(error("date: 2026-11-01\nsource: x\nitems: [{what: a, price: 3}]\n"), HasSubstr("is no sum of money"));
  EXPECT_THAT(error("date: 2026-11-01\nsource: x\nitems: [{what: a, price: 3 USD}, {what: a, price: 4 USD}]\n"),
              HasSubstr("'a' has a price already"));
}

TEST(Brief, RefusesWhatIsWrong) {
  auto const error = [](std::string const& rest) { return test::input_error([&] { brief_of(rest); }); };
  EXPECT_THAT(error("candidates: [{set: {acs: on}}]\njobs: [{collective: all_reduce, bytes: 1 GiB}]\n"),
              HasSubstr("one of 'machine', 'cluster' and 'generate'"));
  EXPECT_THAT(error("candidates: [{machine: hgx-h100}]\njobs: [{collective: all_reduce}]\n"),
              HasSubstr("needs 'bytes'"));
  EXPECT_THAT(
      error("candidates: [{machine: hgx-h100}, {machine: hgx-h100}]\njobs: [{collective: all_reduce, bytes: 1 B}]\n"),
      HasSubstr("already there"));
  EXPECT_THAT(error(std::string(kTwo) + "limits: {price: \"400000 USD\"}\n"), HasSubstr("a limit begins with <="));
  EXPECT_THAT(error(std::string(kTwo) + "limits: {jobs: [{job: all_reduce-1GB, time: \"<= 1 s\"}]}\n"),
              HasSubstr("did you mean 'all_reduce-1GiB'?"));
  EXPECT_THAT(error(std::string(kTwo) + "faults: every\n"), HasSubstr("faults"));
}

TEST(Brief, JobsAreNamedByAWord) {
  EXPECT_EQ(job_named("all_gather:2 GiB").name, "all_gather-2GiB");
  EXPECT_EQ(job_named("all_reduce").scenario.collective->bytes, Bytes(std::int64_t{1} << 30));
  EXPECT_THAT(test::input_error([] { job_named("all_reduce:2"); }), HasSubstr("job 'all_reduce:2'"));
}

}  // namespace
}  // namespace lanewise
