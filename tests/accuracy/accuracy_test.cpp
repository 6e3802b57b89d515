#include "core/accuracy/accuracy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/view/accuracy_text.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/plan/plan.hpp"
#include "tests/support/machines.hpp"

namespace lanewise::test {
namespace {

Machine two_gpus() {
  return machine_from(R"(
lanewise: machine/1
machine: two
parts:
  cpu: {kind: cpu, host_bridges: per_root_port, root_port_generation: 4, memory_bandwidth: 200 GB/s, peer_write_forwarding: any, peer_read_forwarding: any}
  gpu: {kind: gpu, vendor: nvidia, chip: ga100, link: gen4 x16, copy_engines: 2, memory_bandwidth: 1500 GB/s, bar1: 128 GiB, latency: 200 ns}
sockets:
  - socket: cpu0
    part: cpu
    pcie:
      - {root_port: rp0, link: gen4 x16, gpu: gpu0, part: gpu}
      - {root_port: rp1, link: gen4 x16, gpu: gpu1, part: gpu}
)");
}

using Executors = std::function<std::unique_ptr<Executor>(Model const&)>;

MeasurementResult evaluated(
    std::string const& rest, Executors const& executor = [](Model const&) { return std::unique_ptr<Executor>(); }) {
  Catalogue catalogue({});
  AccuracyContext const context{
      .machine = [](Measurement const&) { return two_gpus(); }, .executor = executor, .catalogue = catalogue};
  std::string const head = "lanewise: measurement/1\nmeasurement: m\nmachine: two\nsource: s\nmethod: m\n";
  return evaluate(read_measurement(SourceText::from_memory("m.yaml", head + rest)), context);
}

double const kGen4 = 16e9 * 16 * (128.0 / 130) / 8 * (256.0 / 286) * 0.93;
constexpr double kInterval = 1.7e-6;
constexpr double kStart = 1.3e-6 + 200e-9 + 370e-9 + 200e-9;

// The bandwidth of copies one behind the other counts their starts, the latency is all of one.
TEST(Accuracy, PredictsWhatTheBenchmarkCounts) {
  auto const result = evaluated(R"(
series:
  - {series: copies, quantity: bandwidth, unit: GB/s, bytes: 1 MB, values: [{from: gpu0, to: gpu1, value: 20}]}
  - {series: many, quantity: bandwidth, unit: GB/s, bytes: 1 MB, pipelined: true, values: [{from: gpu0, to: gpu1, value: 20}]}
  - {series: small, quantity: latency, unit: us, bytes: 4 B, values: [{from: gpu0, to: gpu1, value: 2}]}
  - {series: stores, quantity: latency, unit: us, bytes: 4 B, op: write, values: [{from: gpu0, to: gpu1, value: 1}]}
  - {series: apart, quantity: latency, unit: us, bytes: 4 B, pipelined: true, values: [{from: gpu0, to: gpu1, value: 2}]}
)");
  ASSERT_EQ(result.points.size(), 5U);
  EXPECT_NEAR(*result.points[0].predicted, 1e6 / (kStart + 1e6 / kGen4), 1);
  EXPECT_NEAR(*result.points[1].predicted, kGen4, 1);
  EXPECT_NEAR(*result.points[2].predicted, kStart + 4 / kGen4, 1e-12);
  EXPECT_NEAR(*result.points[3].predicted, kStart - 1.3e-6 + 4 / kGen4, 1e-12);
  // One copy occupies the engine, however long its bytes travel.
  EXPECT_NEAR(*result.points[4].predicted, kInterval, 1e-12);
  EXPECT_NEAR(*result.points[2].error(), std::abs(kStart / 2e-6 - 1), 1e-3);
  EXPECT_EQ(result.points[0].group, "pcie_p2p NODE");
}

TEST(Accuracy, TheRangeHoldsThePredictionAndItsParameters) {
  auto const result = evaluated(R"(
series:
  - {series: copies, quantity: bandwidth, unit: GB/s, bytes: 1 GB, values: [{from: gpu0, to: gpu1, value: 20}]}
)");
  auto const& point = result.points[0];
  // Only what links carry matters to a large copy: 0.87 to 1.07, and 4 % between runs.
  EXPECT_NEAR(point.interval.low / *point.predicted, std::exp(-std::hypot(std::log(0.87), std::log(1.04))), 1e-3);
  EXPECT_NEAR(point.interval.high / *point.predicted, std::exp(std::hypot(std::log(1.07), std::log(1.04))), 1e-3);
}

TEST(Accuracy, WithheldFiguresAreTakenAwayOrReplaced) {
  std::string const series =
      "series: [{series: s, quantity: latency, unit: us, bytes: 4 B, values: [{from: gpu0, to: gpu1, value: 2}]}]\n";
  auto const without = evaluated("withhold: [gpu.latency]\n" + series);
  EXPECT_NEAR(*without.points[0].predicted, kStart - 2 * 70e-9 + 4 / kGen4, 1e-12);  // the model's own 130 ns
  auto const instead = evaluated("withhold: [gpu.latency=150 ns]\n" + series);
  EXPECT_NEAR(*instead.points[0].predicted, kStart - 2 * 50e-9 + 4 / kGen4, 1e-12);
  EXPECT_THROW(evaluated("withhold: [gpu.latenzy]\n" + series), InputError);
  EXPECT_THROW(evaluated("withhold: [tpu.latency]\n" + series), InputError);
  EXPECT_THROW(evaluated("withhold: [gpu.latency=fast]\n" + series), InputError);
}

TEST(Accuracy, FactsAreHeldToRulesAndTimes) {
  auto const result = evaluated(R"(
facts:
  - {from: gpu0, to: gpu1, mechanism: pcie_p2p, legal: true}
  - {from: gpu0, to: gpu1, mechanism: nvlink, legal: true}
  - {from: gpu0, to: gpu1, faster: pcie_p2p, slower: host_staged, staging: driver}
  - {from: gpu0, to: gpu1, chosen: host_staged, doubtful: nobody knows}
)");
  ASSERT_EQ(result.facts.size(), 4U);
  EXPECT_TRUE(result.facts[0].agrees);
  EXPECT_FALSE(result.facts[1].agrees);
  EXPECT_EQ(result.facts[1].found, "refused by NVLINK-NONE");
  EXPECT_TRUE(result.facts[2].agrees) << result.facts[2].found;
  EXPECT_FALSE(result.facts[3].agrees);
  auto const summary = summarise({result});
  EXPECT_DOUBLE_EQ(*summary.legality_agreement, 2.0 / 3);
  EXPECT_EQ(summary.left_out, 1U);
}

// What was measured by a way that the rules refuse is a disagreement, not a missing figure.
TEST(Accuracy, ARefusedPointCountsAgainstTheRules) {
  auto const result = evaluated(R"(
series:
  - {series: s, quantity: bandwidth, unit: GB/s, bytes: 1 MB, mechanism: nvlink, values: [{from: gpu0, to: gpu1, value: 2}]}
)");
  EXPECT_FALSE(result.points[0].legal);
  EXPECT_FALSE(result.points[0].predicted.has_value());
  auto const summary = summarise({result});
  EXPECT_EQ(*summary.legality_agreement, 0);
  EXPECT_EQ(summary.unpredicted, 1U);
  EXPECT_FALSE(summary.bandwidth.median.has_value());
}

TEST(Accuracy, TheSummaryTakesQuantilesOfWhatIsInTheGate) {
  MeasurementResult result;
  for (int i = 1; i <= 21; ++i) {
    PointResult point;
    point.measured = 100;
    point.predicted = 100 + i - 1;  // errors 0 %, 1 %, ... 20 %
    point.interval = {90, 110};
    if (i == 21) point.doubtful = "not trusted";
    result.points.push_back(point);
  }
  auto const summary = summarise({result});
  EXPECT_EQ(summary.bandwidth.points, 20U);
  EXPECT_NEAR(*summary.bandwidth.median, 0.095, 1e-12);
  EXPECT_NEAR(*summary.bandwidth.p95, 0.1805, 1e-12);
  EXPECT_NEAR(*summary.bandwidth.worst, 0.19, 1e-12);
  EXPECT_EQ(*summary.interval_coverage, 1);
  auto const json = accuracy_json({result});
  EXPECT_NEAR(json["summary"]["bandwidth"]["p95_error"], 0.1805, 1e-12);
  EXPECT_TRUE(json["summary"]["latency"]["median_error"].is_null());
  EXPECT_EQ(json["points"].size(), 21U);
  EXPECT_FALSE(json["points"][20]["in_gate"].get<bool>());
}

// Takes as long as the bytes of all steps at 10 GB/s.
struct TenGigabytesPerSecond : Executor {
  Trace run(Plan const& plan) override {
    Trace trace;
    for (auto const& step : plan.steps) {
      auto const end = trace.makespan + step.bytes / BytesPerSecond(10e9);
      trace.steps.push_back({step.transfer, trace.makespan, end, step.bytes, std::nullopt});
      trace.makespan = end;
    }
    return trace;
  }
};

TEST(Accuracy, AMakespanOfUnevenFlowsIsThatOfAllTogether) {
  auto const executor = [](Model const&) { return std::make_unique<TenGigabytesPerSecond>(); };
  auto const result = evaluated(R"(
series:
  - series: uneven
    quantity: makespan
    unit: us
    bytes: 2 MB
    together:
      - {flows: [[gpu0, gpu1], {from: gpu1, to: gpu0, bytes: 1 MB}], value: 400}
      - {flows: [{from: gpu1, to: gpu0, bytes: 1 MB}], value: 100}
)",
                                executor);
  ASSERT_EQ(result.points.size(), 2U);
  EXPECT_NEAR(*result.points[0].predicted, 300e-6, 1e-12);
  EXPECT_EQ(result.points[0].bytes, Bytes(2'000'000));
  EXPECT_NEAR(*result.points[1].predicted, kStart + 1e6 / kGen4, 1e-12);  // alone: the model's own time
  auto const summary = summarise({result});
  EXPECT_EQ(summary.makespan.points, 2U);
  EXPECT_EQ(summary.bandwidth.points + summary.latency.points, 0U);
  EXPECT_NEAR(*summary.makespan.worst, std::max(0.25, std::abs((kStart + 1e6 / kGen4) / 100e-6 - 1)), 1e-6);
  EXPECT_THAT(accuracy_text({result}), testing::ContainsRegex("m +2 "));
  EXPECT_THAT(accuracy_text({result}), testing::HasSubstr("2 makespans: median"));
  EXPECT_THAT(accuracy_markdown({result}), testing::HasSubstr("## Makespans"));
  EXPECT_NEAR(accuracy_json({result})["points"][0]["measured_us"].get<double>(), 400, 1e-9);
  EXPECT_EQ(accuracy_json({result})["summary"]["makespan"]["points"], 2);
}

std::string const kCopies = R"(
withhold: [gpu.copy_engines]
series:
  - {series: copies, quantity: bandwidth, unit: GB/s, bytes: 1 GB, values: [{from: gpu0, to: gpu1, value: 25}]}
  - {series: both, quantity: makespan, unit: us, bytes: 1 MB, both_ways: true, values: [{from: gpu0, to: gpu1, value: 200}]}
  - {series: three, quantity: makespan, unit: us, bytes: 1 MB, together: [{flows: [[gpu0, gpu1], [gpu1, gpu0], [gpu0, gpu0]], value: 300}]}
)";

MeasurementResult judged_with(Calibration const& calibration, bool fitted_to_this) {
  Catalogue catalogue({});
  AccuracyContext const context{.machine = [](Measurement const&) { return two_gpus(); },
                                .executor = [](Model const&) { return std::make_unique<TenGigabytesPerSecond>(); },
                                .catalogue = catalogue,
                                .calibration = &calibration,
                                .fitted_to_this = fitted_to_this};
  std::string const head = "lanewise: measurement/1\nmeasurement: m\nmachine: two\nsource: s\nmethod: m\n";
  return evaluate(read_measurement(SourceText::from_memory("m.yaml", head + kCopies)), context);
}

Calibration at_nine_tenths() {
  Calibration calibration;
  calibration.machine = "two";
  calibration.fingerprint = fingerprint(two_gpus());
  CalibratedValue value;
  value.part = "gpu";
  value.key = "link_utilisation_up";
  value.value = 0.93 * 0.9;
  calibration.values = {value};
  return calibration;
}

TEST(Accuracy, HoldsTheCalibratedModel) {
  auto const result = judged_with(at_nine_tenths(), false);
  EXPECT_NEAR(*result.points[0].predicted, kGen4 * 0.9, kGen4 * 1e-4);
  EXPECT_EQ(summarise({result}).fitted.points, 0U);
  EXPECT_EQ(summarise({result}).bandwidth.points, 1U);
}

// What a calibration was fitted to is no test of it; transfers that meet are.
TEST(Accuracy, WhatTheCalibrationWasFittedToIsNotCounted) {
  auto const result = judged_with(at_nine_tenths(), true);
  auto const summary = summarise({result});
  EXPECT_EQ(summary.fitted.points, 2U);
  EXPECT_EQ(summary.bandwidth.points, 0U);
  EXPECT_EQ(summary.makespan.points, 1U);
  EXPECT_THAT(accuracy_text({result}), testing::HasSubstr("2 that the calibration was fitted to are not counted"));
  EXPECT_EQ(accuracy_json({result})["points"][0]["fitted"], true);
}

TEST(Accuracy, TheCalibrationOfAnotherMachineIsRefused) {
  auto calibration = at_nine_tenths();
  calibration.fingerprint = "0";
  EXPECT_THROW(judged_with(calibration, false), InputError);
}

// A figure that the calibration measured is not taken away with the datasheet's.
TEST(Accuracy, ACalibratedFigureIsNotWithheld) {
  auto calibration = at_nine_tenths();
  Measurement measurement;
  measurement.name = "m";
  measurement.withheld = {{"gpu", "link_utilisation_up", "0.5", {}}};
  MeasuredSeries series;
  MeasuredPoint point;
  point.flows = {{"gpu0", "gpu1", Bytes(0)}};
  point.bytes = Bytes(1'000'000'000);
  point.value = 25e9;
  series.points = {point};
  measurement.series = {series};
  Catalogue catalogue({});
  AccuracyContext context{.machine = [](Measurement const&) { return two_gpus(); },
                          .executor = [](Model const&) { return std::unique_ptr<Executor>(); },
                          .catalogue = catalogue};
  EXPECT_NEAR(*evaluate(measurement, context).points[0].predicted, kGen4 * 0.5 / 0.93, kGen4 * 1e-4);
  context.calibration = &calibration;
  EXPECT_NEAR(*evaluate(measurement, context).points[0].predicted, kGen4 * 0.9, kGen4 * 1e-4);
}

// nvbandwidth prints one copy of several that run; those beside it are twice as long.
TEST(Accuracy, TheFirstOfSeveralMayBeWhatIsMeasured) {
  auto const executor = [](Model const&) { return std::make_unique<TenGigabytesPerSecond>(); };
  auto const result = evaluated(R"(
series:
  - series: first
    quantity: bandwidth
    unit: GB/s
    of_first: true
    together: [{flows: [{from: gpu0, to: gpu1, bytes: 1 MB}, {from: gpu1, to: gpu0, bytes: 2 MB}], value: 5}]
)",
                                executor);
  EXPECT_NEAR(*result.points[0].predicted, 10e9, 1);  // its own end, not that of the last
}

TEST(Accuracy, WithoutASimulatorSeveralAtOnceHaveNoPrediction) {
  auto const result = evaluated(R"(
series:
  - {series: s, quantity: bandwidth, unit: GB/s, bytes: 1 MB, both_ways: true, values: [{from: gpu0, to: gpu1, value: 2}]}
)");
  EXPECT_FALSE(result.points[0].predicted.has_value());
  EXPECT_TRUE(result.points[0].legal);
  EXPECT_EQ(result.points[0].binding, "several transfers at once need the simulator");
}

// Places between which a mechanism moves nothing at all are a disagreement, not the end of the run.
TEST(Accuracy, AFactOfNoSuchWayDisagrees) {
  auto const result = evaluated("facts: [{from: gpu0, to: gpu1, faster: gdr, slower: pcie_p2p}]\n");
  EXPECT_FALSE(result.facts[0].agrees);
  EXPECT_THAT(result.facts[0].found, testing::HasSubstr("nothing moves data"));
}

TEST(Accuracy, WhyAFigureIsLeftOutIsPrinted) {
  auto const result = evaluated(R"(
series:
  - {series: s, quantity: bandwidth, unit: GB/s, bytes: 1 MB, doubtful: rounded by hand, values: [{from: gpu0, to: gpu1, value: 2}]}
)");
  EXPECT_THAT(accuracy_text({result}), testing::HasSubstr("rounded by hand"));
  EXPECT_THAT(accuracy_markdown({result}), testing::HasSubstr("rounded by hand"));
  EXPECT_EQ(accuracy_json({result})["points"][0]["doubtful"], "rounded by hand");
}

TEST(Accuracy, ErrorsStandBesideTheNoiseOfWhatWasMeasured) {
  auto const result = evaluated(R"(
noise: [{from: numa0, to: gpu0, bytes: 1 MB, samples: 9, spread: 0.3}]
series:
  - {series: copies, quantity: bandwidth, unit: GB/s, sweep: {from: gpu0, to: gpu1, rows: [[1 GB, 24, 0.02, 0.01], [1 GB, 20, 0.8, 0.4], [2 GB, 20]]}}
  - {series: host, quantity: bandwidth, unit: GB/s, bytes: 1 GB, values: [{from: numa0, to: gpu0, value: 20, spread: 0.1}]}
)");
  EXPECT_EQ(result.points[0].noise, 0.01);
  EXPECT_TRUE(result.points[1].within_noise());
  EXPECT_EQ(result.points[2].noise, std::nullopt);
  EXPECT_FALSE(result.points[2].within_noise());
  EXPECT_NEAR(result.points[3].noise.value(), std::hypot(0.05, 0.15), 1e-12);  // half the spread, and the drift
  auto const summary = summarise({result});
  EXPECT_EQ(summary.noise.points, 3U);
  EXPECT_THAT(accuracy_text({result}), testing::HasSubstr("3 figures say their noise"));
}

// GB200's memory, of 8 TB/s, clears at the rate of its copies.
TEST(Accuracy, WhatACallClearsFirstIsInItsTime) {
  Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  AccuracyContext const context{.machine = [&](Measurement const& m) { return catalogue.machine(m.machine); },
                                .executor = [](Model const&) { return std::unique_ptr<Executor>(); },
                                .catalogue = catalogue,
                                .ranges = false};
  auto const time = [&](std::string const& cleared) {
    auto const result = evaluate(read_measurement(SourceText::from_memory(
                                     "m.yaml",
                                     "lanewise: measurement/1\nmeasurement: m\nmachine: gb200x4\nsource: s\n"
                                     "method: m\nseries:\n  - series: s\n    quantity: makespan\n    unit: us\n"
                                     "    collective: {op: all_to_all, among: [gpu0..gpu3], library: oneshot" +
                                         cleared + ", rows: [[1 GiB, 1000]]}\n")),
                                 context);
    return result.points.at(0).predicted.value();
  };
  EXPECT_NEAR(time(", cleared: 2") - time(""), 2 * 1073741824.0 / (8e12 * 0.86), 1e-9);
}

// By the tuner of NCCL an all-gather of eight H100 changes from LL to LL128 between 4 and 8 MiB.
TEST(Accuracy, SizesNearAChangeOfProtocolAreReportedApart) {
  Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  AccuracyContext const context{.machine = [&](Measurement const& m) { return catalogue.machine(m.machine); },
                                .executor = [](Model const&) { return std::unique_ptr<Executor>(); },
                                .catalogue = catalogue,
                                .ranges = false,
                                .changes = true};
  auto const result = evaluate(read_measurement(SourceText::from_memory("m.yaml", R"(
lanewise: measurement/1
measurement: m
machine: hgx-h100
source: s
method: m
series:
  - series: all-gather
    quantity: makespan
    unit: us
    collective: {op: all_gather, among: [gpu0..gpu7], library: nccl-2.28, rows: [[2 MiB, 20], [4 MiB, 30], [8 MiB, 100], [1 GiB, 3000]]}
)")),
                               context);
  std::vector<std::string> near;
  for (auto const& point : result.points)
    if (point.near_change) near.push_back(point.group);
  EXPECT_THAT(near, testing::ElementsAre("Ring LL", "Ring LL128"));
  EXPECT_EQ(summarise({result}).near_change.points, 2U);
  EXPECT_EQ(summarise({result}).collective.points, 4U);
  EXPECT_THAT(accuracy_text({result}), testing::HasSubstr("collectives near a change of algorithm or protocol\n"));
  EXPECT_THAT(accuracy_markdown({result}), testing::HasSubstr("of which 2 near a change of algorithm or protocol"));
  auto const json = accuracy_json({result});
  EXPECT_FALSE(json["points"][0]["near_change"].get<bool>());
  EXPECT_TRUE(json["points"][1]["near_change"].get<bool>());
}

}  // namespace
}  // namespace lanewise::test
