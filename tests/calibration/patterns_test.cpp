// What a calibration is for: fitted to single transfers alone, it predicts transfers that meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/calibration/calibrate.hpp"
#include "core/measurement/measured_transfer.hpp"
#include "lanewise/sim/simgrid_executor.hpp"
#include "tests/calibration/synthetic.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/machines.hpp"

namespace lanewise::test {
namespace {

double makespan(Machine const& machine, Pattern const& pattern, Bytes bytes) {
  Model const model(machine);
  std::vector<Request> requests;
  for (auto const& flow : pattern.flows)
    requests.push_back({.id = std::to_string(requests.size()),
                        .from = machine.place(flow.from),
                        .to = machine.place(flow.to),
                        .bytes = bytes});
  return sim::SimGridExecutor(model).run(Planner(model).plan(requests)).makespan.value();
}

std::unique_ptr<Executor> sim_executor(Model const& model) { return std::make_unique<sim::SimGridExecutor>(model); }

struct Errors {
  double median, worst;
};

Errors errors_of(Machine const& truth, Machine const& predicted) {
  std::vector<double> errors;
  for (auto const& pattern : patterns_of(truth))
    for (auto const bytes : {Bytes(1 << 20), Bytes(256 << 20)})
      errors.push_back(std::abs(makespan(predicted, pattern, bytes) / makespan(truth, pattern, bytes) - 1));
  std::sort(errors.begin(), errors.end());
  return {errors[errors.size() / 2], errors.back()};
}

struct Case {
  char const* machine;
  std::vector<Hidden> hidden;
};
std::ostream& operator<<(std::ostream& out, Case const& c) { return out << c.machine; }

class CalibratedPatterns : public testing::TestWithParam<Case> {};

TEST_P(CalibratedPatterns, ArePredictedFromSinglesAlone) {
  auto catalogue = bundled();
  auto const machine = catalogue.machine(GetParam().machine);
  auto const truth = with_hidden(machine, GetParam().hidden);
  auto const outcome = calibrate({singles_of(truth, 11), "0", {}, {}}, machine, catalogue);
  auto calibrated = machine;
  apply(outcome.overlay, calibrated);
  auto const before = errors_of(truth, machine);
  auto const after = errors_of(truth, calibrated);
  EXPECT_LT(after.median, 0.03);
  EXPECT_LT(after.worst, 0.1);
  EXPECT_GT(before.median, 2 * after.median);
}

INSTANTIATE_TEST_SUITE_P(Machines, CalibratedPatterns,
                         testing::Values(Case{"h200x8-vm",
                                              {{"h200-sxm5-141g", "link_utilisation_up", 0.9},
                                               {"h200-sxm5-141g", "link_utilisation_down", 0.92},
                                               {"h200-sxm5-141g", "copy_start", 2.0},
                                               {"nvlink-4", "copy_efficiency", 0.93},
                                               {"nvlink-4", "duplex", 0.95}}},
                                         Case{"hgx-h100",
                                              {{"h100-sxm5-80g", "link_utilisation_up", 0.9},
                                               {"pex89144", "link_utilisation_up", 0.9},
                                               {"h100-sxm5-80g", "link_utilisation_down", 0.93},
                                               {"pex89144", "link_utilisation_down", 0.93},
                                               {"nvlink-4", "copy_efficiency", 0.9}}},
                                         Case{"a100x8-pcie-4sw",
                                              {{"a100-pcie-80g", "link_utilisation_up", 0.95},
                                               {"pex88096", "link_utilisation_up", 0.88},
                                               {"pex88096", "link_utilisation_down", 0.9},
                                               {"a100-pcie-80g", "copy_start", 1.5}}},
                                         Case{"dgx-1-v100",
                                              {{"nvlink-2", "copy_efficiency", 0.92},
                                               {"nvlink-2", "latency", 1.4},
                                               {"v100-sxm2-32g", "copy_start", 1.5},
                                               {"pcie-switch-gen3", "link_utilisation_up", 0.92},
                                               {"pcie-switch-gen3", "link_utilisation_down", 0.92}}}));

// A limit that only meeting transfers show is fitted to one pattern and predicts another.
TEST(CalibratedPatterns, ALimitThatTransfersShareComesFromAChosenPattern) {
  auto catalogue = bundled();
  auto const machine = catalogue.machine("h200x8-vm");
  auto const truth = with_hidden(machine, {{"xeon-emerald-rapids", "host_write_bandwidth", 0.8}});
  auto measurement = singles_of(truth, 13);
  auto const patterns = patterns_of(truth);
  auto series = series_of("all-to-host", Mechanism::HostDma);
  series.quantity = MeasuredQuantity::Makespan;
  for (auto const bytes : {Bytes(64 << 20), Bytes(256 << 20)})
    series.points.push_back(point_of(patterns[2].flows, bytes, makespan(truth, patterns[2], bytes)));
  measurement.series.push_back(series);
  auto const outcome = calibrate({measurement, "0", {"all-to-host"}, sim_executor}, machine, catalogue);
  EXPECT_LT(outcome.patterns_after.p95, 0.005);
  EXPECT_GT(outcome.patterns_before.median, 0.1);
  auto calibrated = machine;
  apply(outcome.overlay, calibrated);
  EXPECT_NEAR(figure_of(calibrated, "xeon-emerald-rapids", "host_write_bandwidth") /
                  figure_of(truth, "xeon-emerald-rapids", "host_write_bandwidth"),
              1, 0.01);
  auto const unseen = Bytes(256 << 20);
  EXPECT_NEAR(makespan(calibrated, patterns[3], unseen) / makespan(truth, patterns[3], unseen), 1, 0.02);
}

// All cores of a NUMA node reach by themselves what several GPUs reach only together.
TEST(CalibratedPatterns, ALimitThatASingleTransferReachesNeedsNoPattern) {
  auto catalogue = bundled();
  auto const machine = catalogue.machine("h200x4-vm");
  auto const truth = with_hidden(machine, {{"xeon-emerald-rapids", "memory_efficiency", 0.35}});
  auto measurement = singles_of(truth, 13);
  Model const model(truth);
  auto series = series_of("by-all-cores", Mechanism::Local);
  series.cores = 64;
  for (auto const bytes : {Bytes(512 << 20), Bytes(1 << 30)}) {
    auto point = point_of({{"numa0", "numa0"}}, bytes);
    auto const request = request_of(truth, series, point, point.flows.front());
    point.value = *predicted_alone(model, series, request, {.mechanism = Mechanism::Local, .cores = series.cores});
    series.points.push_back(point);
  }
  auto const without = calibrate({measurement, "0", {}, sim_executor}, machine, catalogue);
  measurement.series.push_back(series);
  auto const with = calibrate({measurement, "0", {}, sim_executor}, machine, catalogue);
  auto const pattern = patterns_of(truth)[2];
  auto const size = Bytes(256 << 20);
  auto const off = [&](CalibrationOutcome const& outcome) {
    auto calibrated = machine;
    apply(outcome.overlay, calibrated);
    return makespan(calibrated, pattern, size) / makespan(truth, pattern, size) - 1;
  };
  EXPECT_LT(off(without), -0.15);
  EXPECT_NEAR(off(with), 0, 0.02);
}

// No part states the limits, and the memory alone cannot explain them: it takes as much both ways at once.
TEST(CalibratedPatterns, ALimitThatNobodyStatesIsAssumedWhereNothingElseExplainsIt) {
  auto catalogue = bundled();
  auto machine = catalogue.machine("h200x8-vm");
  auto& cpu = part(machine, "xeon-emerald-rapids").cpu;
  cpu.host_write_bandwidth = cpu.host_read_bandwidth = cpu.host_traffic_bandwidth = std::nullopt;
  auto truth = machine;
  part(truth, "xeon-emerald-rapids").cpu.host_write_bandwidth = BytesPerSecond(130e9);
  part(truth, "xeon-emerald-rapids").cpu.host_read_bandwidth = BytesPerSecond(170e9);
  auto measurement = singles_of(truth, 17);
  auto const patterns = patterns_of(truth);
  std::vector<std::string> const chosen{"all-to-host", "host-to-all"};
  for (auto const which : {2, 3}) {
    auto series = series_of(chosen[which == 2 ? 0 : 1], Mechanism::HostDma);
    series.quantity = MeasuredQuantity::Makespan;
    auto const& pattern = patterns.at(static_cast<std::size_t>(which));
    for (auto const bytes : {Bytes(64 << 20), Bytes(256 << 20)})
      series.points.push_back(point_of(pattern.flows, bytes, makespan(truth, pattern, bytes)));
    measurement.series.push_back(series);
  }
  auto const outcome = calibrate({measurement, "0", chosen, sim_executor}, machine, catalogue);
  EXPECT_LT(outcome.patterns_after.p95, 0.01);
  auto calibrated = machine;
  apply(outcome.overlay, calibrated);
  EXPECT_NEAR(figure_of(calibrated, "xeon-emerald-rapids", "host_write_bandwidth"), 130e9, 2e9);
  EXPECT_NEAR(figure_of(calibrated, "xeon-emerald-rapids", "host_read_bandwidth"), 170e9, 2e9);
  EXPECT_NEAR(makespan(calibrated, patterns[4], Bytes(256 << 20)) / makespan(truth, patterns[4], Bytes(256 << 20)), 1,
              0.02);
}

TEST(CalibratedPatterns, AnUnknownPatternIsRefusedWithTheNearest) {
  auto catalogue = bundled();
  auto const machine = catalogue.machine("h200x8-vm");
  auto measurement = singles_of(machine, 1);
  auto pattern = measurement.series.front();
  pattern.name = "all-to-host";
  measurement.series.push_back(pattern);
  try {
    calibrate({measurement, "0", {"all-to-hots"}, {}}, machine, catalogue);
    FAIL();
  } catch (InputError const& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'all-to-host'?"));
  }
}

}  // namespace
}  // namespace lanewise::test
