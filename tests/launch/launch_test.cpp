// What starts nodes, with a fake mpirun in PATH: no MPI, no RDMA device and no emulator is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lanewise/io/error.hpp"
#include "launch/host_nodes.hpp"
#include "launch/mpirun.hpp"
#include "process/this_program.hpp"

namespace lanewise::launch {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A folder that stands alone in PATH for the time of a test.
class OnlyPath {
 public:
  OnlyPath() : folder_(fs::temp_directory_path() / ("lanewise-launch-test-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    setenv("PATH", folder_.c_str(), 1);
  }
  OnlyPath(OnlyPath const&) = delete;
  OnlyPath& operator=(OnlyPath const&) = delete;
  ~OnlyPath() {
    setenv("PATH", before_.c_str(), 1);
    fs::remove_all(folder_);
  }
  void add(std::string const& name, std::string const& script) const {
    std::ofstream(folder_ / name) << "#!/bin/sh\n" << script << '\n';
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }
  // With the programs that scripts need.
  void allow_system_programs() const { setenv("PATH", (folder_.string() + ":" + before_).c_str(), 1); }

 private:
  std::string before_ = std::getenv("PATH");
  fs::path folder_;
};

TEST(Mpirun, StartsOneProcessANodeOverTcp) {
  EXPECT_THAT(mpirun_command(3, MpiUse::Agreement, {"--oversubscribe"}, {"lanewise", "check"}),
              ElementsAre("mpirun", "-n", "3", "--bind-to", "none", "--mca", "pml", "ob1", "--mca", "btl", "self,tcp",
                          "--oversubscribe", "sh", "-c", "\"$@\"; test $? -le 1", "sh", "lanewise", "check"));
}

TEST(Mpirun, ItsPackageIsNamedWhereItIsMissing) {
  OnlyPath const path;
  try {
    require_mpirun();
    FAIL();
  } catch (MissingError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("openmpi-bin"));
  }
  path.add("mpirun", "");
  EXPECT_NO_THROW(require_mpirun());
}

TEST(HostNodes, SayWhereTheyRanAndWhatTheyPrinted) {
  OnlyPath const path;
  path.allow_system_programs();
  path.add("mpirun", "printf '%s\\n' \"$*\"");
  auto const run = run_on_host(2, {"rxe0", "rxe1"}, MpiUse::Agreement, {"a program", "word"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.nodes, StartsWith("2 processes on this host (rxe0, rxe1; ran "));
  EXPECT_THAT(run.output, StartsWith("-n 2 "));
  EXPECT_THAT(run.output, HasSubstr("--oversubscribe sh -c"));
  EXPECT_THAT(run.output, HasSubstr("a program word\n"));
}

// A failed expectation is reported by the verdict, not by the processes; everything worse is an error of the run.
TEST(HostNodes, OnlyExitCodesAboveOneAreFailures) {
  OnlyPath const path;
  path.allow_system_programs();
  path.add("mpirun", "while [ \"$1\" != sh ]; do shift; done; exec \"$@\"");
  EXPECT_EQ(run_on_host(1, {}, MpiUse::Agreement, {"sh", "-c", "exit 1"}).exit_code, 0);
  EXPECT_NE(run_on_host(1, {}, MpiUse::Agreement, {"sh", "-c", "exit 2"}).exit_code, 0);
}

TEST(ThisProgram, IsTheFileThatRuns) { EXPECT_EQ(this_program().filename(), "launch_test"); }

}  // namespace
}  // namespace lanewise::launch
