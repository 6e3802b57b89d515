// Bad days, from outside: interruptions, figures beyond all limits, files that are wrong in odd ways.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tests/support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr bool kSim = LANEWISE_HAS_SIM;

std::string read(fs::path const& path) {
  std::ifstream in(path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

// A `lanewise` that runs, with its outputs in files.
class Running {
 public:
  Running(fs::path const& folder, std::vector<std::string> words) : out_(folder / "out"), err_(folder / "err") {
    words.insert(words.begin(), LANEWISE_PROGRAM);
    child_ = fork();
    if (child_ == 0) {
      std::vector<char*> arguments;
      for (auto& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      dup2(open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
      dup2(open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
      execv(arguments[0], arguments.data());
      _exit(127);
    }
  }
  Running(Running const&) = delete;
  Running& operator=(Running const&) = delete;
  ~Running() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
  }

  void interrupt() const { kill(child_, SIGINT); }
  int exit_code() {
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] std::string output() const { return read(out_); }
  [[nodiscard]] std::string error() const { return read(err_); }

 private:
  fs::path out_, err_;
  pid_t child_ = 0;
};

// A file that a program waits for: reading it begins before anything is written.
class Pipe {
 public:
  explicit Pipe(fs::path path) : path_(std::move(path)) { mkfifo(path_.c_str(), 0600); }
  Pipe(Pipe const&) = delete;
  Pipe& operator=(Pipe const&) = delete;
  ~Pipe() { fs::remove(path_); }

  // Interrupts the program as soon as it reads here, and only then gives it what it waits for. False: it has not read
  // within a minute.
  [[nodiscard]] bool interrupt_and_write(Running const& running, std::string const& text) const {
    int end = open(path_.c_str(), O_WRONLY | O_NONBLOCK);  // fails until somebody reads
    for (int i = 0; end < 0 && i < 6000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      end = open(path_.c_str(), O_WRONLY | O_NONBLOCK);
    }
    if (end < 0) return false;
    running.interrupt();
    std::ofstream(path_) << text;
    close(end);
    return true;
  }
  [[nodiscard]] fs::path const& path() const { return path_; }

 private:
  fs::path path_;
};

class BadDays : public testing::Test {
 protected:
  struct Outcome {
    int code = 0;
    std::string output, error;
  };
  Outcome run(std::vector<std::string> words) {
    Running running(folder_.path(), std::move(words));
    auto const code = running.exit_code();
    return {code, running.output(), running.error()};
  }
  std::string scenario(std::string const& name, std::string const& rest) {
    return folder_.with(name + ".yaml", "lanewise: scenario/1\nscenario: " + name + "\nmachines: [dgx-a100]\n" + rest);
  }
  std::string quick() {
    return scenario("a-quick",
                    "transfers: [{id: a, from: gpu0, to: gpu1, bytes: 1 MiB}]\nexpect: [{makespan: <= 1 s}]\n");
  }
  std::string on(Pipe const& machine) {
    return folder_.with("b-late.yaml", "lanewise: scenario/1\nscenario: b-late\nmachines: [" + machine.path().string() +
                                           "]\ntransfers: [{id: a, from: gpu0, to: gpu1, bytes: 1 MiB}]\n"
                                           "expect: [{makespan: <= 1 s}]\n");
  }
  static std::string machine() {
    return read(LANEWISE_SOURCE_DIR "/topologies/machines/h100-pcie-x2-workstation.yaml");
  }
  // Each of many transfers waits for the one before.
  std::string chain(int transfers = 600) {
    std::string rest = "expect: [{makespan: <= 10 s}]\ntransfers:\n";
    for (int i = 0; i < transfers; ++i)
      rest += "  - {id: t" + std::to_string(i) + ", from: gpu" + std::to_string(i % 8) + ", to: gpu" +
              std::to_string((i + 1) % 8) + ", bytes: 1 MiB" +
              (i > 0 ? ", after: [t" + std::to_string(i - 1) + "]" : "") + "}\n";
    return scenario("b-chain", rest);
  }

  lanewise::test::TemporaryFolder folder_;
};

TEST_F(BadDays, CheckThatIsInterruptedPrintsWhatWasFinished) {
  if (!kSim) GTEST_SKIP() << "no simulator";
  auto const junit = (folder_.path() / "junit.xml").string();
  Pipe late(folder_.path() / "late.yaml");
  Running running(folder_.path(), {"check", quick(), on(late), "--junit", junit});
  ASSERT_TRUE(late.interrupt_and_write(running, machine())) << running.error();
  EXPECT_EQ(running.exit_code(), 130);
  EXPECT_THAT(running.output(),
              AllOf(HasSubstr("a-quick"), HasSubstr("1 of 1 scenarios pass"), Not(HasSubstr("b-late"))));
  EXPECT_THAT(running.error(), HasSubstr("stopped: 1 of 2 scenarios were checked; " + junit + " was not written"));
  EXPECT_FALSE(fs::exists(junit));
}

TEST_F(BadDays, InterruptedJsonIsWholeAndSaysSo) {
  if (!kSim) GTEST_SKIP() << "no simulator";
  Pipe late(folder_.path() / "late.yaml");
  Running running(folder_.path(), {"check", quick(), on(late), "--json"});
  ASSERT_TRUE(late.interrupt_and_write(running, machine())) << running.error();
  EXPECT_EQ(running.exit_code(), 130);
  auto const json = nlohmann::json::parse(running.output());
  EXPECT_EQ(json.at("stopped"), nlohmann::json({{"checked", 1}, {"of", 2}}));
}

TEST_F(BadDays, WorkThatIsInterruptedEndsWith130) {
  if (!kSim) GTEST_SKIP() << "no simulator";
  for (auto const* command : {"run", "why"}) {
    Pipe late(folder_.path() / "late-scenario.yaml");
    Running running(folder_.path(), {command, late.path().string()});
    ASSERT_TRUE(late.interrupt_and_write(running, read(chain()))) << running.error();
    EXPECT_EQ(running.exit_code(), 130);
    EXPECT_EQ(running.output(), "");
    EXPECT_THAT(running.error(), HasSubstr("stopped by Ctrl-C"));
  }
}

TEST_F(BadDays, FiguresBeyondAllLimitsAreRefusedWithTheLimit) {
  auto const time = run({"check", scenario("t", "compute: [{id: c, on: [gpu0], time: 1e308 s}]\n")});
  EXPECT_EQ(time.code, 2);
  EXPECT_THAT(time.error, AllOf(HasSubstr("t.yaml:4:"), HasSubstr("'1e308 s' is too large; at most 1000000000 s")));
  auto const small = run({"check", scenario("r",
                                            "transfers: [{id: a, from: gpu0, to: gpu1, bytes: 1 MiB}]\n"
                                            "expect: [{bandwidth: '>= 1e-320 GB/s'}]\n")});
  EXPECT_EQ(small.code, 2);
  EXPECT_THAT(small.error, HasSubstr("is too small; at least 1 B/s"));
}

TEST_F(BadDays, DeepBracketsAndWideTablesAreRefusedAtOnce) {
  auto const began = std::chrono::steady_clock::now();
  for (auto const& text : {std::string(16U << 20, '['), "{a: " + std::string(8U << 20, '{')}) {
    auto const deep = run({"show", folder_.with("deep.yaml", text)});
    EXPECT_EQ(deep.code, 2);
    EXPECT_THAT(deep.error, HasSubstr("nested deeper than 64 levels"));
  }
  std::string table;
  for (int i = 0; i < 100'000; ++i) table += "\tGPU" + std::to_string(i);
  auto const wide = run({"import", "topo-m", folder_.with("wide.txt", table + "\n")});
  EXPECT_EQ(wide.code, 2);
  EXPECT_THAT(wide.error, HasSubstr("columns"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST_F(BadDays, ManyChainedTransfersAreCheckedInTime) {
  if (!kSim) GTEST_SKIP() << "no simulator";
  auto const checked = run({"check", chain()});
  EXPECT_EQ(checked.code, 0);
  EXPECT_THAT(checked.output, HasSubstr("of 600 transfers: running every alternative"));
}

TEST_F(BadDays, AScenarioThatExpectsNothingIsWarnedOfAndFailsWhenStrict) {
  if (!kSim) GTEST_SKIP() << "no simulator";
  auto const file = scenario("empty", "transfers: [{id: a, from: gpu0, to: gpu1, bytes: 1 MiB}]\n");
  auto const lax = run({"check", file});
  EXPECT_EQ(lax.code, 0);
  EXPECT_THAT(lax.error, HasSubstr(file + ":2: warning: scenario 'empty' expects nothing"));
  auto const junit = folder_.path() / "strict.xml";
  auto const strict = run({"check", file, "--strict", "--junit", junit});
  EXPECT_EQ(strict.code, 1);
  EXPECT_THAT(strict.output, HasSubstr("empty: expected something (--strict); found no 'expect'\n"));
  EXPECT_THAT(read(junit), HasSubstr("<failure"));
  EXPECT_EQ(run({"check", quick(), "--strict"}).code, 0);
}

TEST_F(BadDays, AFileMeasuredOnAnotherMachineIsJudgedOnlyOnRequest) {
  auto const file = std::string(LANEWISE_SOURCE_DIR) + "/measurements/published/a100x4-dual-socket-p2p.yaml";
  auto const other = run({"judge", "a100x8-pcie-4sw", file});
  EXPECT_EQ(other.code, 2) << other.error;
  EXPECT_THAT(other.error, AllOf(HasSubstr("was measured on 'a100x4-pcie-dual-socket', not on 'a100x8-pcie-4sw'"),
                                 HasSubstr("--on a100x8-pcie-4sw")));
  for (auto const& words : {std::vector<std::string>{"judge", "a100x4-pcie-dual-socket", file},
                            {"judge", file, "--on", "a100x8-pcie-4sw"},
                            {"judge", "a100x8-pcie-4sw", file, "--on", "a100x8-pcie-4sw"}})
    EXPECT_NE(run(words).code, 2) << run(words).error;
  EXPECT_EQ(run({"judge", "a100x8-pcie-4sw"}).code, 2);
  EXPECT_EQ(run({"judge", "a100x4-pcie-dual-socket", file, "--on", "a100x8-pcie-4sw"}).code, 2);
}

TEST_F(BadDays, APlanWithAMisspeltDriveIsRefused) {
  auto const plan = (folder_.path() / "plan.json").string();
  ASSERT_EQ(run({"plan", quick(), "-o", plan}).code, 0);
  auto text = read(plan);
  auto const at = text.find("\"push\"");
  ASSERT_NE(at, std::string::npos);
  auto const broken = folder_.with("broken.json", text.replace(at, 6, "\"pul\""));
  auto const refused = run({"run", broken, "--on", "dgx-a100"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.error, HasSubstr(broken.string() + ": step 0 (transfer '"));
  EXPECT_THAT(refused.error, HasSubstr("'drive' is push or pull, not 'pul'; did you mean 'pull'?"));
}

TEST_F(BadDays, LittleMemoryIsSaidToBeLittle) {
  // Limits on the address space from what the program just starts under to what the plan fits.
  auto const file = chain(3000);
  int refused = 0;
  for (int kib = 50'000; kib < 1'000'000; kib += 10'000) {
    auto const command = "ulimit -v " + std::to_string(kib) + "; exec '" LANEWISE_PROGRAM "' plan '" + file + "' 2>&1";
    auto* pipe = popen(command.c_str(), "r");
    std::string output;
    std::array<char, 65536> chunk{};
    while (auto const n = std::fread(chunk.data(), 1, chunk.size(), pipe)) output.append(chunk.data(), n);
    auto const status = pclose(pipe);
    ASSERT_TRUE(WIFEXITED(status)) << kib << " KiB\n" << output;
    if (WEXITSTATUS(status) == 127) continue;  // its libraries do not fit
    if (WEXITSTATUS(status) == 0) break;
    ASSERT_EQ(WEXITSTATUS(status), 3) << kib << " KiB\n" << output.substr(0, 500);
    EXPECT_THAT(output, HasSubstr("out of memory"));
    ++refused;
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
