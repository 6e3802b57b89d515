#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/measurement/measurement.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise::test {
namespace {

using namespace literals;
using testing::ElementsAre;

Measurement read(std::string const& text) { return read_measurement(SourceText::from_memory("test.yaml", text)); }

std::string const kHead = R"(lanewise: measurement/1
measurement: m
machine: dgx-2
source: a page
method: by hand
)";

TEST(MeasurementReader, AMatrixIsAPointForEveryFigure) {
  auto const m = read(kHead + R"(
series:
  - series: copies
    quantity: bandwidth
    unit: GiB/s
    bytes: 40 MB
    matrix: {places: [gpu0..gpu1], rows: [[null, 1], [2, null]]}
)");
  ASSERT_EQ(m.series.size(), 1U);
  auto const& points = m.series[0].points;
  ASSERT_EQ(points.size(), 2U);
  EXPECT_THAT(points[0].flows, ElementsAre(MeasuredFlow{"gpu0", "gpu1"}));
  EXPECT_DOUBLE_EQ(points[0].value, 1073741824);
  EXPECT_EQ(points[0].bytes, Bytes(40'000'000));
  EXPECT_EQ(points[0].pos.line, 12);
  EXPECT_DOUBLE_EQ(points[1].value, 2 * 1073741824.0);
}

TEST(MeasurementReader, BothWaysIsTwoFlows) {
  auto const m = read(kHead + R"(
series:
  - {series: s, quantity: bandwidth, unit: GB/s, bytes: 1 MB, both_ways: true, values: [{from: a, to: b, value: 3}]}
)");
  EXPECT_THAT(m.series[0].points[0].flows, ElementsAre(MeasuredFlow{"a", "b"}, MeasuredFlow{"b", "a"}));
}

TEST(MeasurementReader, ASweepVariesTheSizeOrWhatTheAccessLeavesOut) {
  auto const m = read(kHead + R"(
series:
  - {series: sizes, quantity: latency, unit: us, sweep: {from: a, to: b, rows: [[4 B, 1.5], [1 KiB, 2]]}}
  - series: windows
    quantity: bandwidth
    unit: Gb/s
    access: {each: 64 B, pattern: random}
    sweep: {from: a, to: b, rows: [[4 MiB, 8]]}
)");
  EXPECT_EQ(m.series[0].points[1].bytes, 1_KiB);
  EXPECT_DOUBLE_EQ(m.series[0].points[0].value, 1.5e-6);
  auto const& window = m.series[1].points[0];
  EXPECT_EQ(window.access, (Access{64_B, 4_MiB, true}));
  EXPECT_EQ(window.bytes, 64_B);
  EXPECT_DOUBLE_EQ(window.value, 1e9);
}

TEST(MeasurementReader, FlowsAndFiguresMayHaveSizesOfTheirOwnAndASpread) {
  auto const m = read(kHead + R"(
series:
  - series: uneven
    quantity: makespan
    unit: ms
    together:
      - {flows: [{from: a, to: b, bytes: 1 MiB}, {from: b, to: a, bytes: 2 MiB}], value: 3, spread: 1.2 %}
      - {flows: [[a, b], {from: b, to: a, bytes: 2 MiB}], bytes: 4 KiB, value: 4}
  - {series: pairs, quantity: bandwidth, unit: GB/s, bytes: 1 MB, values: [{from: a, to: b, value: 3, bytes: 2 MB, spread: 0.01}]}
  - {series: sizes, quantity: latency, unit: us, sweep: {from: a, to: b, rows: [[4 B, 1.5, 0.25]]}}
)");
  auto const& uneven = m.series[0];
  EXPECT_EQ(uneven.quantity, MeasuredQuantity::Makespan);
  EXPECT_THAT(uneven.points[0].flows, ElementsAre(MeasuredFlow{"a", "b", 1_MiB}, MeasuredFlow{"b", "a", 2_MiB}));
  EXPECT_DOUBLE_EQ(uneven.points[0].value, 3e-3);
  EXPECT_DOUBLE_EQ(uneven.points[0].spread.value(), 0.012);
  EXPECT_EQ(uneven.points[1].bytes_of(uneven.points[1].flows[0]), 4_KiB);
  EXPECT_EQ(uneven.points[1].bytes_of(uneven.points[1].flows[1]), 2_MiB);
  EXPECT_EQ(uneven.points[1].spread, std::nullopt);
  EXPECT_EQ(m.series[1].points[0].bytes, Bytes(2'000'000));
  EXPECT_DOUBLE_EQ(m.series[1].points[0].spread.value(), 0.01);
  EXPECT_DOUBLE_EQ(m.series[2].points[0].spread.value(), 0.25);
}

TEST(MeasurementReader, AFlowMayNameItsNics) {
  auto const m = read(kHead + R"(
series:
  - {series: pair, quantity: bandwidth, unit: GB/s, bytes: 1 MB, both_ways: true, values: [{from: a, to: b, nics: [m, n], value: 3}]}
  - {series: set, quantity: bandwidth, unit: GB/s, bytes: 1 MB, together: [{flows: [{from: a, to: b, nics: [m, n]}, [b, a]], value: 3}]}
  - {series: sizes, quantity: latency, unit: us, sweep: {from: a, to: b, nics: [m, n], rows: [[4 B, 1.5]]}}
)");
  MeasuredFlow const there{"a", "b", Bytes(0), {"m", "n"}};
  EXPECT_THAT(m.series[0].points[0].flows, ElementsAre(there, MeasuredFlow{"b", "a", Bytes(0), {"n", "m"}}));
  EXPECT_THAT(m.series[1].points[0].flows, ElementsAre(there, MeasuredFlow{"b", "a"}));
  EXPECT_THAT(m.series[2].points[0].flows, ElementsAre(there));
}

TEST(MeasurementReader, TheEnvironmentIsNamesToTexts) {
  auto const m = read(kHead + R"(
environment: {driver: 580.95.05, gpu: NVIDIA H200}
facts: [{from: a, to: b, chosen: nvlink}]
)");
  EXPECT_THAT(m.environment, ElementsAre(testing::Pair("driver", "580.95.05"), testing::Pair("gpu", "NVIDIA H200")));
}

TEST(MeasurementReader, WhatIsWithheldMayHaveAnotherValue) {
  auto const m =
      read(kHead + "withhold: [nvlink-2.duplex, rtx.copy_start=100 ns]\nfacts: [{from: a, to: b, chosen: nvlink}]\n");
  ASSERT_EQ(m.withheld.size(), 2U);
  EXPECT_EQ(m.withheld[0].part, "nvlink-2");
  EXPECT_EQ(m.withheld[0].instead, "");
  EXPECT_EQ(m.withheld[1].key, "copy_start");
  EXPECT_EQ(m.withheld[1].instead, "100 ns");
}

TEST(MeasurementReader, AFactSaysOneThing) {
  auto const m = read(kHead + R"(
facts:
  - {from: a, to: b, mechanism: pcie_p2p, legal: false}
  - {from: a, to: b, faster: nvlink, slower: host_staged, staging: driver}
)");
  EXPECT_EQ(m.facts[0].mechanism, Mechanism::PcieP2p);
  EXPECT_FALSE(m.facts[0].legal);
  EXPECT_EQ(m.facts[1].faster, Mechanism::Nvlink);
  EXPECT_TRUE(m.facts[1].by_driver);
}

struct Wrong {
  std::string name, text, problem;
};
class WrongMeasurement : public testing::TestWithParam<Wrong> {};

TEST_P(WrongMeasurement, IsRefusedWithItsPlace) {
  try {
    read(kHead + GetParam().text);
    FAIL() << "was read";
  } catch (InputError const& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(GetParam().problem));
    EXPECT_THAT(error.what(), testing::HasSubstr("test.yaml:"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongMeasurement,
    testing::Values(
        Wrong{"nothing", "", "a measurement has series, facts, or both"},
        Wrong{"short_row",
              "series: [{series: s, quantity: bandwidth, unit: GB/s, bytes: 1 MB, matrix: {places: [a, b], rows: [[1], "
              "[1, 2]]}}]\n",
              "expected a row of 2 figures"},
        Wrong{"too_few_rows",
              "series: [{series: s, quantity: bandwidth, unit: GB/s, bytes: 1 MB, matrix: {places: [a, b], rows: [[1, "
              "2]]}}]\n",
              "expected 2 rows"},
        Wrong{
            "unit_of_the_other_quantity",
            "series: [{series: s, quantity: latency, unit: GB/s, bytes: 1 MB, values: [{from: a, to: b, value: 1}]}]\n",
            "unknown unit 'GB/s' for a time"},
        Wrong{"root_outside",
              "series: [{series: s, quantity: makespan, unit: us, collective: {op: reduce, among: [a, b], root: c, "
              "library: nccl, rows: [[1 MiB, 2]]}}]\n",
              "the root 'c' does not take part"},
        Wrong{"root_of_an_all_gather",
              "series: [{series: s, quantity: makespan, unit: us, collective: {op: all_gather, among: [a, b], root: b, "
              "library: nccl, rows: [[1 MiB, 2]]}}]\n",
              "'root' belongs to broadcast, reduce, scatter and gather"},
        Wrong{"no_form", "series: [{series: s, quantity: latency, unit: us, bytes: 1 MB}]\n", "exactly one of"},
        Wrong{"no_bytes", "series: [{series: s, quantity: latency, unit: us, values: [{from: a, to: b, value: 1}]}]\n",
              "'bytes' is missing"},
        Wrong{"no_bytes_of_one_flow",
              "series: [{series: s, quantity: makespan, unit: us, together: [{flows: [[a, b], {from: b, to: a, bytes: "
              "1 B}], value: 1}]}]\n",
              "'bytes' is missing"},
        Wrong{"one_nic",
              "series: [{series: s, quantity: makespan, unit: us, bytes: 1 B, together: [{flows: [{from: b, to: a, "
              "nics: [m]}], value: 1}]}]\n",
              "'nics': expected two, such as [node0/nic0, node1/nic0]"},
        Wrong{"flow_of_nothing",
              "series: [{series: s, quantity: makespan, unit: us, together: [{flows: [{from: b, to: a, bytes: 0 B}], "
              "value: 1}]}]\n",
              "nothing cannot be measured"},
        Wrong{"first_of_one",
              "series: [{series: s, quantity: bandwidth, unit: GB/s, bytes: 1 B, of_first: true, values: [{from: a, "
              "to: b, value: 1}]}]\n",
              "'of_first' is of bandwidths of several"},
        Wrong{"program_of_one",
              "series: [{series: s, quantity: bandwidth, unit: GB/s, bytes: 1 B, program: {rounds: 2}, values: [{from: "
              "a, "
              "to: b, value: 1}]}]\n",
              "'program' is of several transfers at once"},
        Wrong{"too_many_rounds",
              "series: [{series: s, quantity: bandwidth, unit: GB/s, bytes: 1 B, program: {rounds: 99}, together: "
              "[{flows: [[a, b]], value: 1}]}]\n",
              "'rounds': expected 1 to 16"},
        Wrong{"misspelt_stream",
              "series: [{series: s, quantity: bandwidth, unit: GB/s, bytes: 1 B, program: {stream: sourc}, together: "
              "[{flows: [[a, b]], value: 1}]}]\n",
              "source"},
        Wrong{"a_part_of_the_makespan",
              "series: [{series: s, quantity: makespan, unit: us, bytes: 1 B, program: {timed: mean}, together: "
              "[{flows: [[a, b]], value: 1}]}]\n",
              "'timed' is of bandwidths"},
        Wrong{"misspelt_flow",
              "series: [{series: s, quantity: makespan, unit: us, together: [{flows: [{from: b, too: a, bytes: 1 B}], "
              "value: 1}]}]\n",
              "did you mean 'to'"},
        Wrong{"makespan_of_a_rate",
              "series: [{series: s, quantity: makespan, unit: GB/s, bytes: 1 B, together: [{flows: [[a, b]], value: "
              "1}]}]\n",
              "unknown unit 'GB/s' for a time"},
        Wrong{"negative_spread",
              "series: [{series: s, quantity: latency, unit: us, sweep: {from: a, to: b, rows: [[1 B, 1, -1]]}}]\n",
              "must be zero or more"},
        Wrong{"environment_of_lists", "environment: {gpu: [a, b]}\nfacts: [{from: a, to: b, chosen: nvlink}]\n",
              "expected a single value"},
        Wrong{"nothing_is_no_latency",
              "series: [{series: s, quantity: latency, unit: us, bytes: 1 B, values: [{from: a, to: b, value: 0}]}]\n",
              "more than nothing"},
        Wrong{"twice",
              "series: [{series: s, quantity: latency, unit: us, bytes: 1 B, values: [{from: a, to: b, value: 1}]},\n"
              "         {series: s, quantity: latency, unit: us, bytes: 1 B, values: [{from: a, to: b, value: 1}]}]\n",
              "a series 's' is already there"},
        Wrong{"half_an_access",
              "series: [{series: s, quantity: bandwidth, unit: GB/s, access: {each: 64 B}, values: [{from: a, to: b, "
              "value: "
              "1}]}]\n",
              "only a sweep leaves one out"},
        Wrong{"mechanism", "facts: [{from: a, to: b, mechanism: pcie_p2q, legal: true}]\n", "did you mean 'pcie_p2p'"},
        Wrong{"two_facts", "facts: [{from: a, to: b, chosen: nvlink, mechanism: nvlink, legal: true}]\n",
              "a fact says one of"},
        Wrong{"withheld", "withhold: [copy_efficiency]\nfacts: [{from: a, to: b, chosen: nvlink}]\n",
              "expected PART.KEY"},
        Wrong{"staging", "facts: [{from: a, to: b, mechanism: nvlink, legal: true, staging: driver}]\n",
              "belongs to the mechanism host_staged"}),
    [](auto const& test) { return test.param.name; });

}  // namespace
}  // namespace lanewise::test
