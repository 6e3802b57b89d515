// What was recorded on real GPUs: the model calibrated on their single transfers alone has to predict transfers that
// meet, and the scenarios that ran there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

namespace fs = std::filesystem;

fs::path recorded(std::string const& file) { return fs::path(LANEWISE_SOURCE_DIR) / "measurements/recorded" / file; }

struct Run {
  std::string machine;
  std::string name;  // of the files, less their endings
  // Of the errors of makespans: a single run on a noisy machine; what is missed is host memory under four streams.
  double median = 0, p95 = 0;
};
void PrintTo(Run const& run, std::ostream* out) { *out << run.name; }

class RecordedRuns : public testing::TestWithParam<Run> {};

TEST_P(RecordedRuns, CalibratedOnSinglesPredictsPatterns) {
  auto const& run = GetParam();
  test::TemporaryFolder const folder;
  auto const overlay = (folder.path() / "calibration.yaml").string();
  auto const file = recorded(run.name + ".json").string();
  test::output_of("calibrate " + run.machine + " '" + file + "' -o '" + overlay + "'");
  auto const json = nlohmann::json::parse(
      test::output_of("accuracy '" + file + "' --on " + run.machine + " --calibration '" + overlay + "' --json"));
  auto const& makespan = json["summary"]["makespan"];
  EXPECT_GT(makespan["points"], 10);
  EXPECT_LE(makespan["median_error"], run.median);
  EXPECT_LE(makespan["p95_error"], run.p95);
  EXPECT_LE(json["summary"]["fitted"]["median_error"], 0.03);
}

TEST_P(RecordedRuns, ScenariosAgreeInBothModes) {
  auto const& run = GetParam();
  auto const scenarios = (fs::path(LANEWISE_SOURCE_DIR) / "scenarios/hardware").string();
  auto const checked = nlohmann::json::parse(test::output_of("check '" + scenarios + "' --on " + run.machine +
                                                             " --mode both --hw-trace '" +
                                                             recorded(run.name + ".runs.json").string() + "' --json"));
  auto const& both = checked["both_modes"];
  EXPECT_GT(both["decisions"], 5);
  EXPECT_EQ(both["decisions"], both["equal_decisions"]);
  EXPECT_LE(both["median_error"], 0.05);
}

INSTANTIATE_TEST_SUITE_P(Machines, RecordedRuns, testing::Values(Run{"h200x2-vm", "h200x2-vm-2026-11-22", 0.08, 0.40}));

}  // namespace
}  // namespace lanewise
