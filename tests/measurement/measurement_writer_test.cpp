#include "core/measurement/measurement_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

namespace lanewise::test {
namespace {

namespace fs = std::filesystem;

Measurement read_text(std::string const& text) { return read_measurement(SourceText::from_memory("test.yaml", text)); }

// Places in a file are of that file.
Measurement without_places(Measurement m) {
  m.pos = {};
  for (auto& withheld : m.withheld) withheld.pos = {};
  for (auto& noise : m.noise) noise.pos = {};
  for (auto& fact : m.facts) fact.pos = {};
  for (auto& series : m.series) {
    series.pos = {};
    for (auto& point : series.points) point.pos = {};
  }
  return m;
}

void expect_reads_back(Measurement const& measurement) {
  auto const wanted = without_places(measurement);
  EXPECT_TRUE(without_places(read_text(write_measurement(measurement))) == wanted) << write_measurement(measurement);
  EXPECT_TRUE(without_places(read_text(to_json(measurement).dump())) == wanted) << to_json(measurement).dump(2);
}

std::string const kEverything = R"(lanewise: measurement/1
measurement: m
title: "With: a colon, and \"quotes\""
machine: dgx-2
source: a page
date: 2026-11-21
method: by hand
grade: B
notes: [one, "two: three"]
doubtful: "no"
environment: {driver: 580.95.05, "gpu 0": "NVIDIA H200", persistence: "on"}
withhold: [nvlink-2.duplex, rtx.copy_start=100 ns]
settings: {iommu: pt, virtualization: {approval: true}, acs@sw0: [RR, CR]}
series:
  - {series: matrix, quantity: bandwidth, unit: GiB/s, bytes: 40 MB, matrix: {places: [gpu0..gpu1], rows: [[null, 1.1], [2, null]]}}
  - {series: both, quantity: bandwidth, unit: Gb/s, bytes: 1 MB, both_ways: true, values: [{from: a, to: b, value: 3.7}]}
  - {series: sizes, quantity: latency, unit: ns, doubtful: why, sweep: {from: a, to: b, rows: [[4 B, 1.53], [1 KiB, 2, 0.03]]}}
  - {series: windows, quantity: bandwidth, unit: Gb/s, access: {each: 64 B, pattern: random}, sweep: {from: a, to: b, rows: [[4 MiB, 8]]}}
  - {series: pieces, quantity: bandwidth, unit: MB/s, access: {window: 4 MiB}, sweep: {from: a, to: b, rows: [[64 B, 8.3], [128 B, 9.1]]}}
  - {series: whole, quantity: bandwidth, unit: MB/s, access: {each: 64 B, window: 4 MiB}, values: [{from: a, to: b, value: 7.7}]}
  - {series: rdma, quantity: bandwidth, unit: TB/s, op: write, mechanism: gdr, queue_pairs: 2, pipelined: true, bytes: 64 KiB, values: [{from: a, to: b, value: 0.0247, spread: 0.5 %}]}
  - {series: nics, quantity: latency, unit: us, mechanism: gdr, sweep: {from: a, to: b, nics: [m, n], rows: [[4 B, 1.5], [8 B, 1.5]]}}
  - {series: of-nics, quantity: bandwidth, unit: GB/s, bytes: 64 KiB, values: [{from: a, to: b, nics: [m, n], value: 1}]}
  - {series: rails, quantity: bandwidth, unit: GB/s, bytes: 64 KiB, together: [{flows: [{from: a, to: b, nics: [m, n]}, [b, a]], value: 1}]}
  - {series: cores, quantity: bandwidth, unit: GB/s, mechanism: local, cores: 64, bytes: 1 GiB, values: [{from: a, to: a, value: 84.1}]}
  - {series: driver, quantity: bandwidth, unit: MiB/s, mechanism: host_staged, staging: driver, pageable: true, pulled: true, settings: {acs: on}, values: [{from: a, to: b, value: 1.7, bytes: 1 B}, {from: b, to: a, value: 2.9, bytes: 2 B}]}
  - series: uneven
    quantity: makespan
    unit: ms
    together:
      - {flows: [{from: a, to: b, bytes: 1 MiB}, {from: b, to: a, bytes: 2 MiB}], value: 3.3, spread: 1.2 %}
      - {flows: [[a, b], {from: b, to: a, bytes: 2 MiB}], bytes: 4 KiB, value: 4}
  - {series: first, quantity: bandwidth, unit: GB/s, of_first: true, together: [{flows: [{from: a, to: b, bytes: 1 MiB}, {from: b, to: a, bytes: 2 MiB}], value: 3.3}]}
  - series: program
    quantity: bandwidth
    unit: GB/s
    bytes: 1 MiB
    program: {issue: unordered, stream: source, waits: destination, timed: mean, rounds: 3}
    together: [{flows: {all_to_all: [a, b, c]}, value: 1.25}]
  - {series: rooted, quantity: makespan, unit: us, collective: {op: reduce, among: [a, b, c], root: b, library: nccl-2.28, rows: [[1 MiB, 12.5], [2 MiB, 20.1]]}}
  - {series: clearing, quantity: makespan, unit: us, collective: {op: all_to_all, among: [a, b], library: oneshot, cleared: 4, rows: [[1 MiB, 12.5]]}}
facts:
  - {from: a, to: b, mechanism: pcie_p2p, legal: false, op: read, bytes: 1 KiB, settings: {acs: off}, doubtful: perhaps}
  - {from: a, to: b, chosen: nvlink}
  - {from: a, to: b, faster: nvlink, slower: host_staged, staging: driver}
)";

TEST(MeasurementWriter, EverythingReadsBack) { expect_reads_back(read_text(kEverything)); }

TEST(MeasurementWriter, EveryMeasurementOfTheProjectReadsBack) {
  std::size_t read_back = 0;
  for (auto const& entry : fs::recursive_directory_iterator(fs::path(LANEWISE_SOURCE_DIR) / "measurements")) {
    if (entry.path().extension() != ".yaml") continue;
    SCOPED_TRACE(entry.path());
    expect_reads_back(read_measurement(SourceText::load(entry.path())));
    ++read_back;
  }
  EXPECT_GE(read_back, 40U);
}

// The unit people expect where its decimals suffice, and an exact one where rounding would change the figure.
TEST(MeasurementWriter, FiguresKeepTheirValueAndAreReadable) {
  auto const json = to_json(read_text(kEverything));
  EXPECT_EQ(json["series"][1]["unit"], "GB/s");
  EXPECT_EQ(json["series"][1]["together"][0]["value"], 3.7 / 8);
  EXPECT_EQ(json["series"][6]["values"][0]["value"], 24.7);
  EXPECT_EQ(json["series"][0]["values"][0]["from"], "gpu0");

  auto odd = read_text(kEverything);
  odd.series[6].points[0].value = std::nextafter(24.7e9, 1e12);
  odd.series[2].points[0].value = std::nextafter(1e-6, 1);
  expect_reads_back(odd);
}

TEST(MeasurementWriter, AccessesThatVaryOverPairsAreRefused) {
  auto wrong = read_text(kEverything);
  wrong.series[0].points[0].access.each = Bytes(64);
  EXPECT_THROW(write_measurement(wrong), std::logic_error);
}

// A row of a sweep has no noise without a spread before it; such points are written one by one.
TEST(MeasurementWriter, NoiseWithoutASpreadReadsBack) {
  auto const noisy = read_text(R"(lanewise: measurement/1
measurement: m
machine: m
source: s
method: m
noise: [{from: numa0, to: gpu0, bytes: 64 MiB, samples: 9, spread: 0.1}]
series:
  - series: s
    quantity: bandwidth
    unit: GB/s
    values: [{from: gpu0, to: gpu1, bytes: 1 MiB, value: 20, noise: 0.1}, {from: gpu0, to: gpu1, bytes: 2 MiB, value: 21, spread: 0.2, noise: 0.01}]
  - {series: t, quantity: bandwidth, unit: GB/s, sweep: {from: gpu0, to: gpu1, rows: [[1 MiB, 20, 0.2, 0.1], [2 MiB, 21]]}}
)");
  EXPECT_EQ(noisy.series[0].points[0].noise, 0.1);
  EXPECT_EQ(noisy.series[1].points[0].noise, 0.1);
  expect_reads_back(noisy);
}

}  // namespace
}  // namespace lanewise::test
