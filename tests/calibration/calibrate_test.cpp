#include "core/calibration/calibrate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/calibration/synthetic.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::test {
namespace {

using testing::IsEmpty;

CalibrationOutcome calibrated(Machine const& machine, Measurement const& measurement) {
  auto catalogue = bundled();
  return calibrate({measurement, "0123456789abcdef", {}, {}}, machine, catalogue);
}

CalibratedValue const* value_of(Calibration const& overlay, std::string const& name, std::string const& key) {
  for (auto const& value : overlay.values)
    if ((value.at.empty() ? value.part : value.at) == name && value.key == key) return &value;
  return nullptr;
}

bool unidentified(Calibration const& overlay, std::string const& name, std::string const& key) {
  for (auto const& value : overlay.unidentified)
    if ((value.at.empty() ? value.part : value.at) == name && value.key == key) return true;
  return false;
}

// What was hidden, whether the singles tell it, and what they cannot tell.
struct Case {
  char const* machine;
  std::vector<Hidden> hidden;
  std::vector<std::pair<std::string, std::string>> unidentifiable;
};
std::ostream& operator<<(std::ostream& out, Case const& c) { return out << c.machine; }

class CalibrateSynthetic : public testing::TestWithParam<Case> {};

TEST_P(CalibrateSynthetic, FindsWhatWasHidden) {
  auto const& [name, hidden, unidentifiable] = GetParam();
  auto const machine = bundled().machine(name);
  auto const truth = with_hidden(machine, hidden);
  auto const outcome = calibrated(machine, singles_of(truth, 7));
  auto const& overlay = outcome.overlay;
  for (auto const& one : hidden) {
    auto const* value = value_of(overlay, one.name, one.key);
    ASSERT_NE(value, nullptr) << one.name << ' ' << one.key;
    EXPECT_THAT(value->together_with, IsEmpty()) << one.name << ' ' << one.key;
    EXPECT_GT(value->points, 2);
  }
  for (auto const& value : overlay.values) {  // those that nobody changed too
    if (!value.together_with.empty()) continue;
    auto const is = figure_of(truth, value.at.empty() ? value.part : value.at, value.key);
    auto const off = std::abs(value.value / is - 1);
    // An interval of 95 % misses one figure in twenty; at 1.6 times its width one in 600.
    auto const within = [&](double end) {
      return std::abs(std::log(is / value.value)) <= 1.6 * std::abs(std::log(end / value.value));
    };
    EXPECT_TRUE(off < 0.02 || within(is < value.value ? value.low : value.high))
        << value.part << value.at << ' ' << value.key << ": " << is << ", fitted " << value.value << " (" << value.low
        << " to " << value.high << ")";
    EXPECT_LT(off, 0.25) << value.part << value.at << ' ' << value.key;
  }
  for (auto const& [part, key] : unidentifiable) EXPECT_TRUE(unidentified(overlay, part, key)) << part << ' ' << key;
  EXPECT_LT(outcome.after.median, 0.011);  // the noise
  EXPECT_GT(outcome.before.median, 2 * outcome.after.median);
  EXPECT_GT(outcome.outliers, 0U);
}

INSTANTIATE_TEST_SUITE_P(Machines, CalibrateSynthetic,
                         testing::Values(Case{"h200x8-vm",
                                              {{"h200-sxm5-141g", "link_utilisation_up", 0.93},
                                               {"h200-sxm5-141g", "link_utilisation_down", 0.96},
                                               {"h200-sxm5-141g", "copy_start", 0.6},
                                               {"h200-sxm5-141g", "host_copy_start", 1.4},
                                               {"h200-sxm5-141g", "local_copy_start", 1.5},
                                               {"h200-sxm5-141g", "kernel_start", 1.7},
                                               {"h200-sxm5-141g", "memory_efficiency", 0.9},
                                               {"h200-sxm5-141g", "staged_start", 0.8},
                                               {"h200-sxm5-141g", "staged_gap", 0.7},
                                               {"h200-sxm5-141g", "staged_duplex", 0.9},
                                               {"nvlink-4", "copy_efficiency", 0.97},
                                               {"nvlink-4", "load_store_efficiency", 0.92},
                                               {"nvlink-4", "load_efficiency", 1.02},
                                               {"nvlink-4", "duplex", 0.95},
                                               {"nvlink-4", "latency", 0.75}},
                                              {{"xeon-emerald-rapids", "core_copy_bandwidth"},
                                               {"xeon-emerald-rapids", "root_complex_latency"},
                                               {"h200-sxm5-141g", "latency"}}},
                                         Case{"hgx-h100",
                                              {{"h100-sxm5-80g", "copy_start", 1.5},
                                               {"h100-sxm5-80g", "local_copy_start", 0.7},
                                               {"nvlink-4", "copy_efficiency", 1.03},
                                               {"nvlink-4", "latency", 1.2}},
                                              {{"pex89144", "latency"}}},
                                         Case{"a100x8-pcie-4sw",
                                              {{"a100-pcie-80g", "link_utilisation_up", 0.95},
                                               {"pex88096", "link_utilisation_up", 0.9},
                                               {"pex88096", "link_utilisation_down", 0.92},
                                               {"a100-pcie-80g", "copy_start", 1.4},
                                               {"xeon-platinum-8380", "host_duplex", 1.1}},
                                              {{"pex88096", "latency"}, {"a100-pcie-80g", "link_utilisation_down"}}},
                                         Case{"dgx-1-v100",
                                              {{"v100-sxm2-32g", "copy_start", 1.3},
                                               {"nvlink-2", "copy_efficiency", 0.96},
                                               {"nvlink-2", "duplex", 0.93},
                                               {"nvlink-2", "latency", 1.4}},
                                              {}}));

TEST(Calibrate, GivesAFigureOfItsOwnToWhatDiffers) {
  auto const machine = bundled().machine("h200x8-vm");
  auto const truth =
      with_hidden(machine, {{"h200-sxm5-141g", "link_utilisation_up", 0.97}, {"gpu3", "link_utilisation_up", 0.5}});
  auto const outcome = calibrated(machine, singles_of(truth, 3));
  auto const* own = value_of(outcome.overlay, "gpu3", "link_utilisation_up");
  ASSERT_NE(own, nullptr);
  EXPECT_NEAR(own->value / figure_of(truth, "gpu3", "link_utilisation_up"), 1, 0.01);
  auto const* others = value_of(outcome.overlay, "h200-sxm5-141g", "link_utilisation_up");
  ASSERT_NE(others, nullptr);
  EXPECT_NEAR(others->value / figure_of(truth, "gpu0", "link_utilisation_up"), 1, 0.01);
  int of_one = 0;
  for (auto const& value : outcome.overlay.values) of_one += value.at.empty() ? 0 : 1;
  EXPECT_EQ(of_one, 1);
  auto calibrated = machine;
  apply(outcome.overlay, calibrated);
  EXPECT_NEAR(figure_of(calibrated, "gpu3", "link_utilisation_up"), own->value, 1e-9);
  EXPECT_NEAR(figure_of(calibrated, "gpu0", "link_utilisation_up"), others->value, 1e-9);
}

// What the model misses alike everywhere makes nothing odd: all but the largest transfers a tenth slower.
TEST(Calibrate, WhatTheModelMissesEverywhereMakesNothingOdd) {
  auto const machine = bundled().machine("h200x8-vm");
  auto measurement = singles_of(machine, 3);
  for (auto& series : measurement.series)
    for (auto& point : series.points)
      if (series.name == "to-gpu" || (series.name == "nvlink-write" && point.bytes >= Bytes(16 << 20)))
        point.value *= point.bytes < Bytes(1 << 30) ? 0.9 : 1.0;
  for (auto const& value : calibrated(machine, measurement).overlay.values)
    EXPECT_EQ(value.at, "") << value.key << " " << value.value;
}

TEST(Calibrate, NeedsSingleTransfers) {
  auto const machine = bundled().machine("h200x8-vm");
  Measurement measurement;
  measurement.name = "empty";
  EXPECT_THROW(calibrated(machine, measurement), InputError);
}

TEST(Calibrate, LeavesOutWhatIsDoubtfulAndWhatMeets) {
  auto const machine = bundled().machine("h200x8-vm");
  auto measurement = singles_of(machine, 5);
  auto doubtful = measurement.series.front();
  doubtful.name = "doubtful";
  doubtful.doubtful = "a disturbed run";
  for (auto& point : doubtful.points) point.value *= 3;
  auto meeting = series_of("fan-in", Mechanism::Nvlink);
  meeting.quantity = MeasuredQuantity::Makespan;
  meeting.points.push_back(point_of({{"gpu1", "gpu0", Bytes(0)}, {"gpu2", "gpu0", Bytes(0)}}, Bytes(1 << 20), 1.0));
  auto with_both = measurement;
  with_both.series.push_back(doubtful);
  with_both.series.push_back(meeting);
  auto const outcome = calibrated(machine, with_both);
  EXPECT_EQ(outcome.left_out.at("doubtful: a disturbed run"), static_cast<int>(doubtful.points.size()));
  EXPECT_EQ(outcome.left_out.at("several transfers at once, which the fit does not need"), 1);
  EXPECT_EQ(write_calibration(outcome.overlay), write_calibration(calibrated(machine, measurement).overlay));
}

// What drifted together is not averaged out by many figures.
TEST(Calibrate, DriftOfTheMachineWidensTheRanges) {
  auto const machine = bundled().machine("h200x1-vm");
  auto measurement = singles_of(machine, 7);
  auto const key = "link_utilisation_up";
  auto const width = [&] {
    auto const outcome = calibrated(machine, measurement);
    auto const* value = value_of(outcome.overlay, "h200-sxm5-141g", key);
    EXPECT_NE(value, nullptr);
    return std::log(value->high / value->low) / 2;
  };
  auto const quiet = width();
  measurement.noise = {{{"gpu0", "numa0"}, 20, 0.2}, {{"numa0", "gpu0"}, 20, 0.2}};
  // Half of a spread of 20 % is 1.645 standard deviations, and the range has 1.96 of them.
  EXPECT_GT(width(), 0.8 * std::log1p(0.1) * 1.96 / 1.645);
  EXPECT_LT(quiet, width() / 2);
}

}  // namespace
}  // namespace lanewise::test
