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
  std::string name;       // of the files, less their endings
  std::string scenarios;  // that ran there
  std::size_t decisions;  // in them, with an alternative
  std::size_t patterns;
  // Of the errors of makespans. What is missed is host memory under several streams, which a guest shares with others.
  double median, p95;
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
  EXPECT_EQ(makespan["points"], run.patterns);
  if (run.patterns > 0) {
    EXPECT_LE(makespan["median_error"], run.median);
    EXPECT_LE(makespan["p95_error"], run.p95);
  }
  EXPECT_LE(json["summary"]["fitted"]["median_error"], 0.03);
}

TEST_P(RecordedRuns, ScenariosAgreeInBothModes) {
  auto const& run = GetParam();
  auto const scenarios = (fs::path(LANEWISE_SOURCE_DIR) / "scenarios/hardware" / run.scenarios).string();
  auto const checked = nlohmann::json::parse(test::output_of("check '" + scenarios + "' --on " + run.machine +
                                                             " --mode both --hw-trace '" +
                                                             recorded(run.name + ".runs.json").string() + "' --json"));
  auto const& both = checked["both_modes"];
  EXPECT_EQ(both["decisions"], run.decisions);
  EXPECT_EQ(both["decisions"], both["equal_decisions"]);
  EXPECT_LE(both["median_error"], run.median);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, RecordedRuns,
    testing::Values(Run{"h100x1-vm", "h100x1-vm-2026-11-22", "host-both-ways.yaml", 0, 0, 0.20, 0.20},
                    Run{"h200x1-vm", "h200x1-vm-2026-11-22", "host-both-ways.yaml", 0, 0, 0.20, 0.20},
                    Run{"h200x2-vm", "h200x2-vm-2026-11-23", "", 17, 11, 0.03, 0.11},
                    Run{"h200x4-vm", "h200x4-vm-2026-11-22", "", 12, 39, 0.03, 0.14}));

}  // namespace
}  // namespace lanewise
