// Figures of NICs, switches of fabrics and drives, hidden in what `lanewise measure` would write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/calibration/calibrate.hpp"
#include "core/measurement/measured_transfer.hpp"
#include "core/measurement/worklist.hpp"
#include "tests/calibration/synthetic.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::test {
namespace {

// The worklist's single transfers, as the model has them, with 1 % of noise.
Measurement worklist_of(Machine const& machine, std::vector<std::string> drives) {
  Model const model(machine);
  Planner const planner(model);
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  Measurement made;
  made.name = "synthetic";
  made.machine = machine.name;
  made.series = series_to_measure(model, {.patterns = false, .drives = std::move(drives)});
  for (auto& series : made.series) {
    for (auto& point : series.points) {
      if (point.flows.size() != 1) continue;
      auto const request = request_of(machine, series, point, point.flows.front());
      auto const choice = planner.choose(request);
      point.value = *predicted_alone(model, series, request, choice.evaluated[*choice.chosen].way) *
                    std::exp(0.01 * normal(random));
    }
    std::erase_if(series.points, [](MeasuredPoint const& point) { return point.flows.size() != 1; });
  }
  std::erase_if(made.series, [](MeasuredSeries const& series) { return series.points.empty(); });
  return made;
}

struct HiddenCase {
  char const* machine;
  std::vector<std::string> drives;
  std::vector<Hidden> hidden;
};
std::ostream& operator<<(std::ostream& out, HiddenCase const& c) { return out << c.machine; }

class CalibrateNetworkAndDrives : public testing::TestWithParam<HiddenCase> {};

TEST_P(CalibrateNetworkAndDrives, FindsWhatWasHidden) {
  auto const& [name, drives, hidden] = GetParam();
  auto catalogue = bundled();
  auto const machine = catalogue.machine(name);
  auto const truth = with_hidden(machine, hidden);
  auto const outcome = calibrate({worklist_of(truth, drives), "0123456789abcdef", {}, {}}, machine, catalogue);
  for (auto const& one : hidden) {
    auto const found =
        std::find_if(outcome.overlay.values.begin(), outcome.overlay.values.end(), [&](CalibratedValue const& value) {
          return (value.at.empty() ? value.part : value.at) == one.name && value.key == one.key;
        });
    ASSERT_NE(found, outcome.overlay.values.end()) << one.name << ' ' << one.key;
    if (!found->together_with.empty()) {  // the wire is not alone in what a message takes: the hops beside it are
      EXPECT_EQ(one.key, "wire_latency");
      continue;
    }
    EXPECT_NEAR(found->value / figure_of(truth, one.name, one.key), 1, 0.05) << one.name << ' ' << one.key;
  }
  EXPECT_LT(outcome.after.median, 0.011);  // the noise
  EXPECT_GT(outcome.before.p95, 2 * outcome.after.p95);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, CalibrateNetworkAndDrives,
    testing::Values(
        HiddenCase{"h100x1-cloud-2",
                   {},
                   {{"ethernet-generic", "socket_latency", 1.6}, {"ethernet-generic", "socket_bandwidth", 0.7}}},
        HiddenCase{"nvme-server",
                   {"nvme0", "nvme1", "nvme2"},
                   {{"pm1733", "read_bandwidth", 0.9},
                    {"pm1733", "write_bandwidth", 0.8},
                    {"pm1733", "read_latency", 1.3},
                    {"pm1733", "write_latency", 0.7}}},
        HiddenCase{"nvme-server", {"nvme0", "nvme1", "nvme2", "nvme3"}, {{"nvme2", "write_bandwidth", 0.6}}},
        HiddenCase{"hgx-h100-2",
                   {},
                   {{"connectx-7-ndr", "payload_efficiency", 0.96}, {"connectx-7-ndr", "wire_latency", 1.5}}}));

}  // namespace
}  // namespace lanewise::test
