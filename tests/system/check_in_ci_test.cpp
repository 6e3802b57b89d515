// `check` as a CI system runs it, from outside: a folder of machines and scenarios, reports, and an earlier verdict.
#include <sys/wait.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string read(fs::path const& path) {
  std::ifstream in(path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

class CheckInCi : public testing::Test {
 protected:
  struct Outcome {
    int code = -1;
    std::string output;
  };
  // Checks the folder in its parent, with standard error in the output unless `arguments` redirect it.
  [[nodiscard]] Outcome check(std::string const& arguments, std::string const& what = "mine") const {
    Outcome outcome;
    auto const command = "cd '" + folder_.path().string() + "' && '" LANEWISE_PROGRAM "' check " + what +
                         " --mode estimate " + arguments;
    auto* pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
    std::array<char, 65536> chunk{};
    while (auto const n = std::fread(chunk.data(), 1, chunk.size(), pipe)) outcome.output.append(chunk.data(), n);
    auto const status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
  }
  void SetUp() override {
    fs::create_directories(folder_.path() / "mine/machines");
    auto machine = read(LANEWISE_SOURCE_DIR "/topologies/machines/a100x8-pcie-4sw.yaml");
    auto const name = machine.find("machine: a100x8-pcie-4sw");
    ASSERT_NE(name, std::string::npos);
    machine.replace(name, 24, "machine: our-server");
    write("mine/machines/server.yaml", machine);
    write("mine/peers.yaml", scenario("peers", "our-server"));
  }
  void write(std::string const& name, std::string const& text) const { std::ofstream(folder_.path() / name) << text; }
  [[nodiscard]] std::string file(std::string const& name) const { return read(folder_.path() / name); }
  static std::string scenario(std::string const& name, std::string const& machine) {
    return "lanewise: scenario/1\nscenario: " + name + "\nmachines: [" + machine +
           "]\ntransfers: [{id: a, from: gpu0, to: gpu1, bytes: 64 MiB}]\nexpect: [{makespan: <= 1 s}]\n";
  }

  lanewise::test::TemporaryFolder folder_;
};

TEST_F(CheckInCi, MachineFilesBesideScenariosAreKnownByTheirNames) {
  auto const checked = check("");
  EXPECT_EQ(checked.code, 0) << checked.output;
  EXPECT_THAT(checked.output, AllOf(HasSubstr("our-server"), HasSubstr("1 of 1 scenarios pass")));
  write("mine/part.yaml", "# a part\nlanewise: part/1\n");
  EXPECT_THAT(check("").output, HasSubstr("note: mine/part.yaml is a part file, and passed over"));
  EXPECT_EQ(check("", "mine/peers.yaml mine/machines/server.yaml").code, 0);
  auto const none = check("", "mine/machines");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.output, HasSubstr("mine/machines: no scenario is there"));
}

TEST_F(CheckInCi, WhatCannotBeReadIsAnErrorAndTheOthersRun) {
  write("mine/broken.yaml", "lanewise: scenario/1\nscenario: broken\nmachnes: [our-server]\n");
  write("mine/misspelt.yaml", scenario("misspelt", "our-sever"));
  write("mine/machines/bad.yaml", "lanewise: machine/1\nmachine: bad\nsokets: []\n");
  auto const checked = check("--junit junit.xml --summary summary.md --annotations github");
  EXPECT_EQ(checked.code, 2);
  EXPECT_THAT(checked.output,
              AllOf(HasSubstr("mine/broken.yaml:3:1: error:"), HasSubstr("did you mean 'machines'?"),
                    HasSubstr("mine/misspelt.yaml:3:12: error: no machine is called 'our-sever'; did you mean "
                              "'our-server'?"),
                    HasSubstr("mine/machines/bad.yaml:3:1: error:"), HasSubstr("1 of 4 scenarios pass")));
  EXPECT_THAT(checked.output, HasSubstr("\n::error file=mine/misspelt.yaml,line=3,col=12,title="));
  EXPECT_THAT(file("junit.xml"),
              AllOf(HasSubstr("<error message=\"mine/broken.yaml:3:1: error:"), HasSubstr("<testsuite name=\"peers"),
                    HasSubstr("file=\"mine/machines/bad.yaml\" line=\"3\"")));
  EXPECT_THAT(file("summary.md"),
              AllOf(HasSubstr("1 of 4 scenarios pass"), HasSubstr("- mine/broken.yaml:3:1: error:")));
  // Who names a machine whose file is wrong is told so.
  write("mine/of-bad.yaml", scenario("of-bad", "bad"));
  EXPECT_THAT(check("").output, HasSubstr("mine/of-bad.yaml:3:12: error: 'bad' is described in mine/machines/bad.yaml, "
                                          "which is wrong"));
  // 2 wins over 1.
  auto failing = scenario("fails", "our-server");
  write("mine/fails.yaml", failing.replace(failing.find("<= 1 s"), 6, "<= 1 ns"));
  EXPECT_EQ(check("").code, 2);
  EXPECT_EQ(check("", "mine/fails.yaml mine/machines/server.yaml").code, 1);
}

TEST_F(CheckInCi, ASlowerMachineFailsAgainstTheBaseline) {
  ASSERT_EQ(check("--json >base.json").code, 0);
  auto const same = check("--baseline base.json");
  EXPECT_EQ(same.code, 0) << same.output;
  EXPECT_THAT(same.output, HasSubstr("runs in both: 1, unchanged: 1; 0 regressions"));
  auto const slower =
      check("--baseline base.json --set link@gpu0='gen3 x8' --junit j.xml --summary s.md --annotations github");
  EXPECT_EQ(slower.code, 1);
  EXPECT_THAT(slower.output,
              AllOf(HasSubstr("1 of 1 scenarios pass"), HasSubstr("SLOWER"), HasSubstr("1 regression"),
                    HasSubstr("::error file=mine/peers.yaml,line=2,col=11,title=peers on our-server%3A slower::")));
  EXPECT_THAT(file("j.xml"), AllOf(HasSubstr("compared with base.json"), HasSubstr("type=\"slower\"")));
  EXPECT_THAT(file("s.md"), HasSubstr("| SLOWER | peers | our-server |"));
  EXPECT_EQ(check("--baseline base.json --set link@gpu0='gen3 x8' --tolerance 2000%").code, 0);
  EXPECT_EQ(check("--baseline base.json --set link@gpu0='gen3 x8' --fail-on gone,new").code, 0);
  auto const json = nlohmann::json::parse(
      check("--baseline base.json --set link@gpu0='gen3 x8' --json 2>/dev/null").output, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["baseline"]["changes"][0]["change"], "slower");
  // What has a comparison in it is a baseline, too.
  write("again.json", json.dump());
  EXPECT_THAT(check("--baseline again.json").output, HasSubstr("faster"));
}

TEST_F(CheckInCi, ABadBaselineIsRefusedBeforeAnythingRuns) {
  write("base.json", "{\"lanewise\": \"verdict/1\",\n \"scenaros\": []}\n");
  auto const refused = check("--baseline base.json --junit j.xml");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.output, AllOf(HasSubstr("base.json:1:1: error: the key 'scenarios' is missing"),
                                    Not(HasSubstr("expectations checked"))));
  EXPECT_FALSE(fs::exists(folder_.path() / "j.xml"));
  EXPECT_THAT(check("--baseline nowhere.json").output, HasSubstr("nowhere.json: error: no such file"));
  EXPECT_THAT(check("--tolerance lots").output, HasSubstr("'lots' is not a ratio"));
  auto const misspelt = check("--fail-on slowr");
  EXPECT_EQ(misspelt.code, 2);
  EXPECT_THAT(misspelt.output,
              AllOf(HasSubstr("'slowr' is not a kind of change; allowed:"), HasSubstr("did you mean 'slower'?")));
}

}  // namespace
