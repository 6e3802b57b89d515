// The program's own options of comparisons: results that are kept, used again and merged, and files of candidates.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr char kBrief[] =
    "lanewise: design/1\ndesign: d\ncandidates:\n"
    "  - generate: {gpu: [l40s], gpus: [4], cpu: [epyc-9575f], sockets: [1], switch: [pex89144], switches: [1, 2]}\n"
    "jobs: [{collective: all_reduce, bytes: 64 MiB}]\n";

std::size_t lines_with(fs::path const& folder, std::string const& what) {
  std::size_t count = 0;
  for (auto const& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) count += line.find(what) != std::string::npos ? 1 : 0;
  }
  return count;
}

int exit_code_of(std::string const& arguments) {
  auto const status = std::system(("'" LANEWISE_PROGRAM "' " + arguments + " >/dev/null 2>&1").c_str());
  return WEXITSTATUS(status);
}

TEST(DesignCommand, ResumesWithoutEvaluatingAgain) {
  test::TemporaryFolder const folder;
  auto const brief = folder.with("brief.yaml", kBrief).string();
  auto const results = (folder.path() / "results").string();
  auto const command = "design " + brief + " --json --results " + results;
  auto const first = test::output_of(command + " --processes 2");
  auto const evaluations = lines_with(results, "\"result\"");
  EXPECT_GT(evaluations, 0U);
  EXPECT_EQ(exit_code_of(command), 2);  // the folder holds results, and nobody said that they are to be used
  EXPECT_EQ(test::output_of(command + " --resume"), first);
  EXPECT_EQ(lines_with(results, "\"result\""), evaluations);
}

TEST(DesignCommand, MergesWhatAnotherFolderHas) {
  test::TemporaryFolder const folder;
  auto const brief = folder.with("brief.yaml", kBrief).string();
  auto const one = (folder.path() / "one").string();
  auto const other = (folder.path() / "other").string();
  auto const first = test::output_of("design " + brief + " --json --results " + one);
  EXPECT_EQ(test::output_of("design " + brief + " --json --results " + other + " --merge " + one), first);
  EXPECT_EQ(lines_with(other, "\"result\""), 0U);
  EXPECT_EQ(test::output_of("design " + brief + " --json --processes 1 --merge " + one), first);
}

TEST(DesignCommand, AnOptionWithoutItsPartnerIsRefused) {
  test::TemporaryFolder const folder;
  EXPECT_NE(exit_code_of("rank hgx-h100 --resume"), 0);
  EXPECT_EQ(exit_code_of("whatif hgx-h100 --set acs=on --results " + (folder.path() / "r").string()), 2);
  EXPECT_EQ(exit_code_of("rank hgx-h100 --html " + (folder.path() / "no" / "page.html").string()), 2);
}

// What is written is a machine file as any other, and is as fast as the candidate was.
TEST(DesignCommand, WritesTheFilesOfGeneratedCandidates) {
  test::TemporaryFolder const folder;
  auto const brief = folder.with("brief.yaml", kBrief).string();
  auto const files = folder.path() / "files";
  auto const found =
      nlohmann::json::parse(test::output_of("design " + brief + " --json --write-generated " + files.string()));
  auto const& best = found["candidates"][0];
  auto const file = files / (best["candidate"].get<std::string>() + ".yaml");
  ASSERT_TRUE(fs::exists(file)) << file;
  auto const again =
      nlohmann::json::parse(test::output_of("rank " + file.string() + " --job 'all_reduce:64 MiB' --json"));
  EXPECT_EQ(again["candidates"][0]["jobs"]["all_reduce-64MiB"]["time_us"], best["jobs"]["all_reduce-64MiB"]["time_us"]);
}

TEST(DesignCommand, ALaunchersProcessesNeedAFolder) {
  EXPECT_EQ(
      std::system("SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4 '" LANEWISE_PROGRAM "' rank hgx-h100 >/dev/null 2>&1") >> 8,
      2);
  test::TemporaryFolder const folder;
  auto const results = (folder.path() / "results").string();
  // Rank 1 does what rank 0 never begins, and prints nothing.
  auto const command =
      "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 '" LANEWISE_PROGRAM "' rank hgx-h100 --results " + results;
  auto* pipe = popen(command.c_str(), "r");
  EXPECT_EQ(std::fgetc(pipe), EOF);
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_GT(lines_with(results, "\"result\""), 0U);
}

}  // namespace
}  // namespace lanewise
