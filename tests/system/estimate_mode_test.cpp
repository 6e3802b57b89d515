// --mode estimate, from outside: it loads no simulator, says what it is, and agrees with the simulation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

using lanewise::test::output_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr bool kSim = LANEWISE_HAS_SIM;
std::string const kRoot = LANEWISE_SOURCE_DIR;
std::string const kScenario = kRoot + "/scenarios/acs-halves-bidirectional-p2p.yaml";
std::string const kRun = "run " + kScenario + " --on a100x8-pcie-4sw --variant acs-on";

nlohmann::json json_of(std::string const& arguments) { return nlohmann::json::parse(output_of(arguments)); }

std::string read(std::filesystem::path const& path) {
  std::ifstream in(path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

TEST(EstimateMode, IsNamedInEveryText) {
  EXPECT_THAT(output_of(kRun + " --mode estimate"), HasSubstr("estimate on a100x8-pcie-4sw: makespan"));
  EXPECT_THAT(output_of("check " + kScenario + " --mode estimate"), HasSubstr("estimated, not simulated"));
  EXPECT_THAT(output_of("matrix hgx-h100 --mode estimate --places gpu0,gpu1"), HasSubstr("estimate)"));
  EXPECT_THAT(output_of("report hgx-h100 --mode estimate"), HasSubstr("estimated, not simulated"));
  EXPECT_THAT(output_of("report hgx-h100 --mode estimate --markdown"), HasSubstr("Estimated, not simulated"));
}

TEST(EstimateMode, IsNamedInEveryFile) {
  EXPECT_EQ(json_of(kRun + " --mode estimate --json")["mode"], "estimate");
  EXPECT_EQ(json_of("matrix hgx-h100 --mode estimate --json --places gpu0,gpu1")["mode"], "estimate");
  EXPECT_EQ(json_of("report hgx-h100 --mode estimate --json")["mode"], "estimate");
  lanewise::test::TemporaryFolder const folder;
  auto const junit = folder.path() / "verdict.xml";
  auto const verdict = json_of("check " + kScenario + " --mode estimate --json --junit " + junit.string());
  EXPECT_EQ(verdict["scenarios"][0]["mode"], "estimate");
  EXPECT_THAT(read(junit), HasSubstr("acs-halves-bidirectional-p2p (estimate)"));
}

TEST(EstimateMode, IsNeverTheDefault) {
  if (!kSim) GTEST_SKIP() << "needs the simulator";
  EXPECT_EQ(json_of(kRun + " --json")["mode"], "sim");
  EXPECT_THAT(output_of("check " + kScenario), Not(HasSubstr("estimated")));
  EXPECT_EQ(json_of("check " + kScenario + " --json")["scenarios"][0]["mode"], "sim");
  EXPECT_EQ(json_of("report hgx-h100 --json")["mode"], "sim");
  EXPECT_EQ(json_of("matrix hgx-h100 --bidirectional --json --places gpu0,gpu1")["mode"], "sim");
}

TEST(EstimateMode, GivesTheTraceOfTheSimulation) {
  if (!kSim) GTEST_SKIP() << "needs the simulator";
  auto const estimated = json_of(kRun + " --mode estimate --json");
  auto const simulated = json_of(kRun + " --json");
  auto const expect_near = [](nlohmann::json const& a, nlohmann::json const& b) {
    EXPECT_NEAR(a.get<double>(), b.get<double>(), std::abs(b.get<double>()) * 1e-6);
  };
  for (auto const* key : {"machine", "fingerprint"}) EXPECT_EQ(estimated[key], simulated[key]);
  expect_near(estimated["makespan_us"], simulated["makespan_us"]);
  expect_near(estimated["makespan_interval_us"][1], simulated["makespan_interval_us"][1]);
  ASSERT_EQ(estimated["steps"].size(), simulated["steps"].size());
  for (std::size_t i = 0; i < estimated["steps"].size(); ++i)
    for (auto const* key : {"start_us", "end_us", "bandwidth_GBps"})
      expect_near(estimated["steps"][i][key], simulated["steps"][i][key]);
  ASSERT_EQ(estimated["resources"].size(), simulated["resources"].size());
  for (auto const& resource : estimated["resources"]) {
    auto const& all = simulated["resources"];
    auto const same =
        std::find_if(all.begin(), all.end(), [&](auto const& r) { return r["name"] == resource["name"]; });
    ASSERT_NE(same, all.end()) << resource["name"];
    expect_near(resource["bytes"], (*same)["bytes"]);
    expect_near(resource["utilisation"], (*same)["utilisation"]);
  }
}

TEST(EstimateMode, ReachesTheVerdictOfTheSimulation) {
  if (!kSim) GTEST_SKIP() << "needs the simulator";
  auto const results = [](std::string const& mode) {
    auto verdict = json_of("check " + kScenario + " --json --mode " + mode)["scenarios"][0]["results"];
    for (auto& result : verdict) result.erase("found");  // its digits
    return verdict;
  };
  EXPECT_EQ(results("estimate"), results("sim"));
}

// The version is that of the library that simulates, although --version does not load it.
TEST(Version, IsThatOfTheLoadedSimulator) {
  if (!kSim) GTEST_SKIP() << "needs the simulator";
  auto const executor = json_of(kRun + " --json")["environment"]["executor"].get<std::string>();
  EXPECT_THAT(output_of("--version"), AllOf(HasSubstr("sim: " + executor + "\n"), HasSubstr("\nhw:  ")));
}

// The program with its libraries but the simulator, as a build without SimGrid has them.
TEST(EstimateMode, StandsInForTheSimulatorOfJudge) {
  namespace fs = std::filesystem;
  lanewise::test::TemporaryFolder const folder;
  for (auto const& file : fs::directory_iterator(fs::path(LANEWISE_PROGRAM).parent_path().parent_path() / "lib"))
    if (file.path().filename().string().find("lanewise_sim") == std::string::npos)
      fs::create_symlink(file.path(), folder.path() / file.path().filename());
  auto const table = folder.path() / "nvbandwidth.txt";
  std::ofstream(table) << "nvbandwidth Version: v0.8\n\n"
                          "Running device_to_device_bidirectional_memcpy_read_ce.\n"
                          "memcpy CE GPU(row) <-> GPU(column) Total bandwidth (GB/s)\n"
                          "           0         1\n"
                          " 0       N/A    770.00\n"
                          " 1    770.00       N/A\n\n"
                          "SUM device_to_device_bidirectional_memcpy_read_ce_total 1540.00\n";
  std::string const note = "no simulator in this build: several transfers at once are judged by the estimate";
  auto const judge = "judge h100x2-vm " + table.string() + " 2>&1";
  EXPECT_EQ(output_of(judge).find(note) == std::string::npos, kSim);
  auto const* const before = std::getenv("LD_LIBRARY_PATH");
  std::string const restored = before != nullptr ? before : "";
  setenv("LD_LIBRARY_PATH", (folder.path().string() + ":" + restored).c_str(), 1);
  EXPECT_THAT(output_of(judge), AllOf(HasSubstr(note), HasSubstr("0 warn, 0 fail")));
  setenv("LD_LIBRARY_PATH", restored.c_str(), 1);
}

}  // namespace
