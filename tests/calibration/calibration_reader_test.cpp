#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/calibration/calibration.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/plan/plan.hpp"
#include "tests/calibration/synthetic.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::test {
namespace {

using testing::HasSubstr;

std::string const kHead = R"(lanewise: calibration/1
machine: h200x8-vm
fingerprint: FINGERPRINT
measurement: {name: mine, date: "2026-11-21", digest: 0123456789abcdef, environment: {driver: 580.95.05}}
)";

std::string head(std::string const& fingerprint) {
  auto text = kHead;
  return text.replace(text.find("FINGERPRINT"), 11, fingerprint);
}

Calibration read(std::string const& rest, std::string const& fingerprint = "00") {
  return read_calibration(SourceText::from_memory("c.yaml", head(fingerprint) + rest));
}

std::string problem_of(std::string const& rest) {
  try {
    read(rest);
  } catch (InputError const& error) {
    return error.what();
  }
  return "none";
}

std::string const kValue =
    "values:\n  - {part: nvlink-4, key: copy_efficiency, value: 0.88, low: 0.87, high: 0.89, points: 12}\n";

TEST(CalibrationReader, ReadsValuesWithTheirUnits) {
  auto const calibration = read(
      kValue +
      R"(  - {at: gpu3, key: copy_start, value: 1.2 us, low: 1.1 us, high: 1.3 us, points: 3, together_with: [x latency]}
  - {at: cpu0, key: core_copy_bandwidth, value: 11 GB/s, low: 10 GB/s, high: 12 GB/s, points: 3}
unidentified:
  - {part: pex88096, key: latency, reason: nothing hangs on it}
)");
  ASSERT_EQ(calibration.values.size(), 3U);
  EXPECT_EQ(calibration.values[0].part, "nvlink-4");
  EXPECT_DOUBLE_EQ(calibration.values[0].low, 0.87);
  EXPECT_EQ(calibration.values[1].at, "gpu3");
  EXPECT_DOUBLE_EQ(calibration.values[1].value, 1.2e-6);
  EXPECT_THAT(calibration.values[1].together_with, testing::ElementsAre("x latency"));
  EXPECT_DOUBLE_EQ(calibration.values[2].value, 11e9);
  EXPECT_EQ(calibration.unidentified.at(0).reason, "nothing hangs on it");
  EXPECT_EQ(calibration.measurement.environment.at("driver"), "580.95.05");
}

TEST(CalibrationReader, WhatIsWrittenReadsBackTheSame) {
  auto calibration = read(kValue + "unidentified: [{at: gpu1, key: latency, reason: \"a: b\"}]\n");
  calibration.values.push_back({.part = "",
                                .at = "gpu3",
                                .key = "staged_gap",
                                .value = rounded_to_file_digits(7.7182818e-6),
                                .low = rounded_to_file_digits(7.1e-6),
                                .high = rounded_to_file_digits(8.1e-6),
                                .points = 4,
                                .together_with = {"gpu3 staged_start"}});
  auto const written = write_calibration(calibration);
  auto const reread = read_calibration(SourceText::from_memory("w.yaml", written));
  EXPECT_EQ(write_calibration(reread), written);
  EXPECT_EQ(reread.values[1].value, calibration.values[1].value);
  EXPECT_EQ(reread.measurement, calibration.measurement);
  auto const as_json = calibration_tree(calibration).dump();
  EXPECT_EQ(write_calibration(read_calibration(SourceText::from_memory("w.json", as_json))), written);
}

TEST(CalibrationReader, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(problem_of("values: [{part: a, key: copy_efficency, value: 1, low: 1, high: 1, points: 1}]\n"),
              HasSubstr("did you mean 'copy_efficiency'?"));
  EXPECT_THAT(problem_of("values: [{key: copy_efficiency, value: 1, low: 1, high: 1, points: 1}]\n"),
              HasSubstr("c.yaml:5:10: error: give either 'part' or 'at'"));
  EXPECT_THAT(problem_of("values: [{part: a, at: b, key: copy_efficiency, value: 1, low: 1, high: 1, points: 1}]\n"),
              HasSubstr("either 'part' or 'at'"));
  EXPECT_THAT(problem_of("values: [{part: a, key: copy_start, value: 1.3, low: 1 us, high: 2 us, points: 1}]\n"),
              HasSubstr("'value': "));
  EXPECT_THAT(problem_of("values: [{part: a, key: copy_start, value: 0 us, low: 1 us, high: 2 us, points: 1}]\n"),
              HasSubstr("more than 0"));
  EXPECT_THAT(problem_of("values: [{part: a, key: copy_start, value: 3 us, low: 1 us, high: 2 us, points: 1}]\n"),
              HasSubstr("must hold the value"));
  EXPECT_THAT(problem_of("values: [{part: a, key: copy_start, value: [3 us], low: 1 us, high: 2 us, points: 1}]\n"),
              HasSubstr("expected a single value"));
  EXPECT_THAT(problem_of(kValue + kValue.substr(kValue.find("  - "))), HasSubstr("is already there, at line 6"));
  EXPECT_THAT(problem_of("value: []\n"), HasSubstr("did you mean 'values'?"));
  EXPECT_THROW(read_calibration(SourceText::from_memory("c.yaml", "lanewise: machine/1\n")), InputError);
}

class Overlay : public testing::Test {
 protected:
  std::string refusal(std::string const& rest) {
    try {
      apply(read(rest, fingerprint(machine)), machine);
    } catch (InputError const& error) {
      return error.what();
    }
    return "none";
  }
  Machine machine = bundled().machine("h200x8-vm");
};

TEST_F(Overlay, ChangesThePartAndTheFingerprint) {
  auto const before = machine;
  EXPECT_EQ(refusal(kValue), "none");
  EXPECT_DOUBLE_EQ(figure_of(machine, "nvlink-4", "copy_efficiency"), 0.88);
  EXPECT_NE(fingerprint(machine), fingerprint(before));
}

TEST_F(Overlay, GivesOneThingAPartOfItsOwn) {
  EXPECT_EQ(refusal("values:\n"
                    "  - {at: gpu3, key: copy_start, value: 5 us, low: 4 us, high: 6 us, points: 3}\n"
                    "  - {part: h200-sxm5-141g, key: copy_start, value: 2 us, low: 1 us, high: 3 us, points: 3}\n"),
            "none");
  EXPECT_DOUBLE_EQ(figure_of(machine, "gpu3", "copy_start"), 5e-6);
  EXPECT_DOUBLE_EQ(figure_of(machine, "gpu4", "copy_start"), 2e-6);
  EXPECT_EQ(machine.part_of(*machine.find_function("gpu3"))->name, "h200-sxm5-141g/gpu3");
}

TEST_F(Overlay, AndTheMachineAreOneMachineFile) {
  EXPECT_EQ(refusal(kValue + "  - {at: gpu3, key: copy_start, value: 5 us, low: 4 us, high: 6 us, points: 3}\n"),
            "none");
  auto catalogue = bundled();
  auto const written = catalogue.machine_from(SourceText::from_memory("m.yaml", write_machine(machine)));
  EXPECT_EQ(figure_of(written, "nvlink-4", "copy_efficiency"), 0.88);
  EXPECT_EQ(figure_of(written, "gpu3", "copy_start"), 5e-6);
  EXPECT_EQ(figure_of(written, "gpu2", "copy_start"), figure_of(catalogue.machine("h200x8-vm"), "gpu2", "copy_start"));
  for (auto const& target : targets_of(written, false)) EXPECT_EQ(target.part.find('/'), std::string::npos);
}

TEST_F(Overlay, IsRefusedByAnotherMachine) {
  auto other = bundled().machine("hgx-h100");
  EXPECT_THROW(apply(read(kValue, fingerprint(machine)), other), InputError);
  machine.hosts.front().settings.iommu = IommuMode::Strict;
  try {
    apply(read(kValue), machine);
    FAIL();
  } catch (InputError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("calibrate again"));
  }
}

TEST_F(Overlay, NamesWhatTheMachineDoesNotHave) {
  EXPECT_THAT(refusal("values: [{part: nvlink-5, key: latency, value: 1 us, low: 1 us, high: 1 us, points: 1}]\n"),
              HasSubstr("did you mean 'nvlink-4'?"));
  EXPECT_THAT(refusal("values: [{at: gpu9, key: latency, value: 1 us, low: 1 us, high: 1 us, points: 1}]\n"),
              HasSubstr("has no 'gpu9'"));
  EXPECT_THAT(refusal("values: [{part: nvlink-4, key: copy_start, value: 1 us, low: 1 us, high: 1 us, points: 1}]\n"),
              HasSubstr("has no 'copy_start' to calibrate"));
}

}  // namespace
}  // namespace lanewise::test
