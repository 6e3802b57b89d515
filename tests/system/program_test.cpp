// Tests the program from outside: exit codes, JSON, help, loaded libraries, broken files, bundled data.
#include <sys/resource.h>
#include <sys/wait.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::string const kRoot = LANEWISE_SOURCE_DIR;
constexpr bool kSim = LANEWISE_HAS_SIM;
constexpr int kFine = 0, kExpectationFailed = 1, kBadInput = 2, kMissing = 3;

struct Outcome {
  int code = -1;
  std::string output;
};

// Runs `lanewise` in a shell; `arguments` may redirect, `environment` stands before it.
Outcome run(std::string const& arguments, std::string const& environment = "") {
  Outcome outcome;
  auto* pipe = popen((environment + " '" + LANEWISE_PROGRAM + "' " + arguments).c_str(), "r");
  std::array<char, 65536> chunk{};
  while (auto const n = std::fread(chunk.data(), 1, chunk.size(), pipe)) outcome.output.append(chunk.data(), n);
  auto const status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}
// The same, with standard error in the output.
Outcome run_both(std::string const& arguments) { return run(arguments + " 2>&1"); }

std::string read(fs::path const& path) {
  std::ifstream in(path);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

std::vector<std::string> bundled_machines() {
  std::vector<std::string> names;
  for (auto const* folder : {"machines", "clusters"})
    for (auto const& entry : fs::directory_iterator(kRoot + "/topologies/" + folder))
      if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_cluster(std::string const& name) { return fs::exists(kRoot + "/topologies/clusters/" + name + ".yaml"); }

// The commands that `lanewise --help` lists.
std::vector<std::string> commands() {
  std::istringstream in(run("--help").output);
  std::vector<std::string> names;
  bool listed = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("Subcommands:"))
      listed = true;
    else if (listed && line.starts_with("  ") && line.size() > 2 && line[2] != ' ')
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

class Program : public testing::Test {
 protected:
  void SetUp() override {
    auto pattern = (fs::temp_directory_path() / "lanewise-system-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string at(std::string const& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string write(std::string const& name, std::string const& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return at(name);
  }
  // Two transfers on a bundled machine and one expectation.
  [[nodiscard]] std::string scenario(std::string const& expectation = "{makespan: <= 1 s}") const {
    return write("s.yaml",
                 "lanewise: scenario/1\nscenario: s\nmachines: [a100x8-pcie-4sw]\ntransfers:\n  - {id: a, from: gpu0, "
                 "to: gpu1, bytes: 16 MiB}\n"
                 "  - {id: b, from: gpu1, to: gpu4, bytes: 16 MiB, after: [a]}\nexpect:\n  - " +
                     expectation + "\n");
  }

  fs::path folder_;
};

// ---- exit codes

TEST_F(Program, ExitsWithZeroWhenAllIsFine) {
  auto const s = scenario();
  for (auto const* arguments :
       {"--help", "--version", "show dgx-a100", "why dgx-a100 gpu0 gpu1", "matrix a100x4-pcie-dual-socket"})
    EXPECT_EQ(run_both(arguments).code, kFine) << arguments;
  EXPECT_EQ(run_both("plan " + s).code, kFine);
  if (!kSim) return;
  EXPECT_EQ(run_both("run " + s + " -o " + at("t.json")).code, kFine);
  EXPECT_EQ(run_both("check " + s + " --junit " + at("j.xml")).code, kFine);
  EXPECT_EQ(run_both("compare " + at("t.json") + " " + at("t.json")).code, kFine);
  EXPECT_THAT(read(at("j.xml")), HasSubstr("<testsuites"));
}

TEST_F(Program, ExitsWithTwoOnBadInputAndUsage) {
  auto const s = scenario();
  for (auto const& arguments : {std::string(""),
                                std::string("shwo dgx-a100"),
                                std::string("show"),
                                std::string("show no-such-machine"),
                                std::string("show dgx-a100 --as picture"),
                                std::string("show dgx-a100 --set acs=perhaps"),
                                std::string("show dgx-a100 --set acs"),
                                std::string("why dgx-a100 gpu0 gpu99"),
                                std::string("why dgx-a100 gpu0 gpu1 --bytes 12"),
                                std::string("why dgx-a100 gpu0 gpu1 --op move"),
                                std::string("why dgx-a100 gpu0"),
                                std::string("matrix dgx-a100 --metric speed"),
                                std::string("matrix dgx-a100 --places gpu0..nic3"),
                                std::string("import"),
                                std::string("import visio x"),
                                "plan " + s + " --on no-such-machine",
                                "plan " + s + " --variant none",
                                "run " + s + " --mode guess",
                                "check " + s + " --mode guess",
                                "compare " + s + " " + s,
                                "plan " + s + " --nonsense"}) {
    auto const outcome = run_both(arguments);
    EXPECT_EQ(outcome.code, kBadInput) << arguments << "\n" << outcome.output;
    EXPECT_NE(outcome.output, "") << arguments;
  }
}

TEST_F(Program, AMisspeltNameIsAnsweredWithTheNearest) {
  EXPECT_THAT(run_both("shwo dgx-a100").output, HasSubstr("show"));
  EXPECT_THAT(run_both("show dgx-a10").output, HasSubstr("dgx-a100"));
  EXPECT_THAT(run_both("why dgx-a100 gpu0 gpuu1").output, HasSubstr("gpu1"));
}

TEST_F(Program, WhatIsNotHereExitsWithThree) {
  if (run_both("--version").output.find(" GPUs") != std::string::npos) GTEST_SKIP() << "there are GPUs here";
  auto const s = scenario();
  for (auto const& arguments : {"run " + s + " --mode hw", "check " + s + " --mode hw"}) {
    auto const outcome = run_both(arguments);
    EXPECT_EQ(outcome.code, kMissing) << arguments;
    EXPECT_THAT(outcome.output,
                AnyOf(HasSubstr("the CUDA executor is not in this build"), HasSubstr("no GPU to run on")))
        << arguments;
  }
  EXPECT_EQ(run_both("run " + s + " --mode hw -o " + at("t.json")).code, kMissing);
  EXPECT_FALSE(fs::exists(at("t.json")));
  if (!kSim) {
    EXPECT_EQ(run_both("run " + s).code, kMissing);
  }
}

TEST_F(Program, AFailingScenarioExitsWithOneAndSaysWhereAndWhy) {
  if (!kSim) GTEST_SKIP() << "needs the simulator";
  auto const s = scenario("{transfer: a, mechanism: nvlink}");
  auto const outcome = run_both("check " + s);
  EXPECT_EQ(outcome.code, kExpectationFailed);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("FAIL " + s + ":8:5:"), HasSubstr("expected a: mechanism nvlink; found pcie_p2p"),
                    HasSubstr("refused by NVLINK-NONE"), HasSubstr("0 of 1 scenarios pass")));
  EXPECT_EQ(run_both("check " + s + " --json").code, kExpectationFailed);
  EXPECT_EQ(run_both("check " + s + " " + kRoot + "/scenarios/acs-halves-bidirectional-p2p.yaml").code,
            kExpectationFailed)
      << "one of two fails";
}

// ---- JSON

TEST_F(Program, JsonParsesAndSaysWhatItIs) {
  auto const s = scenario();
  std::vector<std::pair<std::string, std::string>> asked{{"show dgx-a100 --json", "machine/1"},
                                                         {"why dgx-a100 gpu0 gpu1 --json", "why/1"},
                                                         {"matrix a100x4-pcie-dual-socket --json", "matrix/1"},
                                                         {"plan " + s + " --json", "plan/3"}};
  if (kSim) {
    EXPECT_EQ(run("run " + s + " -o " + at("t.json") + " >/dev/null").code, kFine);
    asked.insert(asked.end(), {{"run " + s + " --json", "trace/2"},
                               {"check " + s + " --json", "verdict/1"},
                               {"compare " + at("t.json") + " " + at("t.json") + " --json", "comparison/1"}});
  }
  auto const table = write("topo.txt", "GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\n");
  asked.emplace_back("import topo-m " + table + " --gpu a100-pcie-80g --json 2>/dev/null", "machine/1");
  for (auto const& [arguments, kind] : asked) {
    auto const outcome = run(arguments);
    EXPECT_EQ(outcome.code, kFine) << arguments;
    auto const json = nlohmann::json::parse(outcome.output, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << arguments << "\n" << outcome.output;
    EXPECT_EQ(json.value("lanewise", ""), kind) << arguments;
  }
}

TEST_F(Program, TheSameCommandPrintsTheSame) {
  if (!kSim) GTEST_SKIP() << "needs the simulator";
  auto const s = scenario();
  for (auto const& arguments : {"run " + s + " --json", "check " + s + " --json", "plan " + s + " --json"})
    EXPECT_EQ(run(arguments).output, run(arguments).output) << arguments;
}

TEST_F(Program, APlanRunsAsItsScenarioDoes) {
  if (!kSim) GTEST_SKIP() << "needs the simulator";
  auto const s = scenario();
  ASSERT_EQ(run_both("plan " + s + " -o " + at("p.json")).code, kFine);
  EXPECT_EQ(run("run " + at("p.json") + " --json").output, run("run " + s + " --json").output);
  auto const other = run_both("run " + at("p.json") + " --set acs=on");
  EXPECT_EQ(other.code, kBadInput);
  EXPECT_THAT(other.output, HasSubstr("other hardware or settings"));
  ASSERT_EQ(run_both("run " + s + " -o " + at("t.json")).code, kFine);
  EXPECT_THAT(run("compare " + at("t.json") + " " + at("t.json")).output, HasSubstr("median error 0.0 %"));
}

// ---- bundled scenarios by name

TEST_F(Program, ABundledScenarioIsFoundByItsNameFromAnyFolder) {
  std::string const name = "acs-halves-bidirectional-p2p";
  auto const file = kRoot + "/scenarios/" + name + ".yaml";
  for (auto const& command : {"plan @ --on a100x8-pcie-4sw --variant acs-on", "check @ --mode estimate",
                              "run @ --mode estimate --on a100x8-pcie-4sw --variant acs-on"}) {
    auto const at_name = [&](std::string const& scenario) {
      std::string line = command;
      return "cd " + folder_.string() + " && '" + LANEWISE_PROGRAM + "' " + line.replace(line.find('@'), 1, scenario);
    };
    auto const by_name = run("--version >/dev/null && " + at_name(name));
    EXPECT_EQ(by_name.code, kFine) << command;
    EXPECT_EQ(by_name.output, run("--version >/dev/null && " + at_name(file)).output) << command;
  }
  EXPECT_EQ(run("check two-rails-carry-one-transfer --mode estimate").code, kFine) << "a folder below";
  if (!kSim) return;
  EXPECT_THAT(run("why two-nodes-on-one-rail").output, HasSubstr("hgx-h100-2"));
}

TEST_F(Program, AFileComesBeforeABundledScenarioOfItsName) {
  auto const own = write("atomics-need-nvlink", read(scenario()));
  EXPECT_THAT(run("check " + own + " --mode estimate").output, HasSubstr("1/1"));
  auto const here = run("--version >/dev/null && cd " + folder_.string() + " && '" + LANEWISE_PROGRAM +
                        "' plan atomics-need-nvlink --json");
  EXPECT_THAT(here.output, HasSubstr("a100x8-pcie-4sw"));
}

TEST_F(Program, AnUnknownScenarioIsAnsweredWithTheNearest) {
  for (auto const* command : {"plan", "run", "check", "why"}) {
    auto const outcome = run_both(std::string(command) + " atomics-need-nvlnk");
    EXPECT_EQ(outcome.code, kBadInput) << command;
    EXPECT_THAT(outcome.output, HasSubstr("did you mean 'atomics-need-nvlink'?")) << command;
  }
  EXPECT_EQ(run_both("plan ./atomics-need-nvlink").code, kBadInput) << "a path is a file";
  EXPECT_EQ(run_both("check atomics-need-nvlink.yaml").code, kBadInput) << "so is a name with an ending";
}

TEST_F(Program, ListsWhatIsBundled) {
  auto const lines = [](std::string const& text) { return std::count(text.begin(), text.end(), '\n'); };
  auto const machines = run("list machines --names").output;
  EXPECT_EQ(lines(machines) + lines(run("list clusters --names").output), std::ssize(bundled_machines()));
  EXPECT_THAT(machines, AllOf(HasSubstr("dgx-a100\n"), Not(HasSubstr("soft-roce-2\n"))));
  auto const scenarios = nlohmann::json::parse(run("list scenarios --names --json").output);
  EXPECT_THAT(scenarios, testing::Contains("two-rails-carry-one-transfer"));
  EXPECT_THAT(run("list parts connectx-7").output, AllOf(HasSubstr("connectx-7-ndr "), HasSubstr("400 Gb/s")));
  EXPECT_THAT(run("list clusters gb300").output, HasSubstr("72 GPUs"));
  EXPECT_THAT(run("list scenarios acs-halves").output, HasSubstr("ACS request redirect"));
  EXPECT_THAT(run("list parts 'no such'").output, HasSubstr("`lanewise list parts` lists all"));
  auto const wrong = run_both("list machins");
  EXPECT_EQ(wrong.code, kBadInput);
  EXPECT_THAT(wrong.output, HasSubstr("did you mean 'machines'?"));
}

TEST_F(Program, ShowsAPartWithItsSources) {
  EXPECT_THAT(run("show b200-sxm-180g").output, HasSubstr("measured"));
  auto const json = nlohmann::json::parse(run("show b200-sxm-180g --json").output);
  EXPECT_EQ(json.at("part"), "b200-sxm-180g");
  EXPECT_EQ(json.at("figures").at(0).at("rests_on"), "datasheet");
  EXPECT_EQ(run_both("show b200-sxm-180g --as dot").code, kBadInput);
  EXPECT_EQ(run_both("show b200-sxm-180g --set acs=on").code, kBadInput);
}

TEST_F(Program, AWrongMachineIsAnsweredWithThoseThatAreAlike) {
  auto const outcome = run_both("show b300-box");
  EXPECT_EQ(outcome.code, kBadInput);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("with 'b300': "), HasSubstr("hgx-b300"), HasSubstr("lanewise list machines")));
}

// ---- help, docs/cli.md

// The long options in a command's help but --help, and those of its own subcommands.
std::set<std::string> options_in(std::string const& command) {
  auto const help = run_both(command + " --help").output;
  std::set<std::string> options;
  std::istringstream in(help);
  bool lists_subcommands = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("Subcommands:")) lists_subcommands = true;
    if (!line.starts_with("  ") || line.size() < 3 || line[2] == ' ') continue;
    if (lists_subcommands)
      options.merge(options_in(command + " " + line.substr(2, line.find(' ', 2) - 2)));
    else if (auto const at = line.find("--"); at != std::string::npos && at < line.find(' ', 2))
      options.insert(line.substr(at, line.find(' ', at) - at));
  }
  options.erase("--help");
  return options;
}

// The part of a document under a heading, up to the next of the same level.
std::string section(std::string const& document, std::string const& heading) {
  auto const start = document.find(heading + "\n");
  if (start == std::string::npos) return {};
  auto const level = heading.substr(0, heading.find(' ') + 1);
  return document.substr(start, document.find("\n" + level, start) - start);
}

TEST_F(Program, EveryCommandAndOptionIsDocumented) {
  auto const names = commands();
  EXPECT_THAT(names, testing::IsSupersetOf({"show", "why", "matrix", "plan", "run", "check", "compare", "import"}));
  auto const document = read(kRoot + "/docs/cli.md");
  auto const table = section(document, "## Commands");
  auto const shared = section(document, "## Options that commands share");
  for (auto const& name : names) {
    auto const help = run_both(name + " --help");
    EXPECT_EQ(help.code, kFine) << name;
    EXPECT_THAT(help.output, HasSubstr("--help")) << name;
    EXPECT_THAT(table, AnyOf(HasSubstr("| `" + name + " "), HasSubstr("| `" + name + "`"))) << name;
    auto const own = section(document, "### " + name);
    EXPECT_NE(own, "") << name;
    for (auto const& option : options_in(name))
      EXPECT_TRUE((shared + own).find(option) != std::string::npos) << name << " " << option;
  }
}

// ---- what it loads

TEST_F(Program, OnlyWhatSimulatesLoadsTheSimulator) {
  auto const loaded = [](std::string const& arguments) {
    return run(arguments + " 2>&1 >/dev/null", "LD_DEBUG=libs").output;
  };
  if (loaded("--version").find("liblanewise_core") == std::string::npos) GTEST_SKIP() << "the loader does not report";
  for (auto const& arguments :
       {std::string("--version"), std::string("show dgx-a100"), std::string("why dgx-a100 gpu0 gpu1"),
        std::string("matrix a100x4-pcie-dual-socket"), std::string("matrix a100x4-pcie-dual-socket --mode estimate"),
        "run " + scenario() + " --mode estimate", "check " + scenario() + " --mode estimate",
        std::string("report a100x4-pcie-dual-socket --effort quick --mode estimate")})
    EXPECT_THAT(loaded(arguments), Not(HasSubstr("libsimgrid"))) << arguments;
  if (!kSim) return;
  EXPECT_THAT(loaded("matrix a100x4-pcie-dual-socket --mode sim"), HasSubstr("libsimgrid"));
}

TEST_F(Program, OnlyExploreLoadsAnHttpServer) {
  auto const libraries = run("show dgx-a100 2>&1 >/dev/null", "LD_DEBUG=libs").output;
  if (libraries.find("liblanewise_core") == std::string::npos) GTEST_SKIP() << "the loader does not report";
  EXPECT_THAT(libraries, AllOf(Not(HasSubstr("libcpp-httplib")), Not(HasSubstr("libssl"))));
}

// ---- broken files

// Ends with 2, says which file, and leaves nothing behind.
void expect_refused(std::string const& arguments, std::string const& file, std::string const& output = "") {
  auto const outcome = run_both(arguments);
  auto const said = outcome.output.substr(0, 2000);
  EXPECT_EQ(outcome.code, kBadInput) << arguments << "\n" << said;
  EXPECT_THAT(said, HasSubstr(file)) << arguments;
  if (output.empty()) return;
  EXPECT_FALSE(fs::exists(output)) << arguments;
}

TEST_F(Program, BrokenFilesAreRefusedByEveryReader) {
  std::string lines;
  for (int i = 0; i < 1'000'000; ++i) lines += "a\n";
  std::string bomb = "lanewise: machine/1\na: &a [x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    auto const before = std::string("*") + static_cast<char>(c - 1);
    bomb += std::string(1, c) + ": &" + c + " [" + before + ", " + before + ", " + before + ", " + before + ", " +
            before + ", " + before + "]\n";
  }
  std::string entities = "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [\n<!ENTITY lol0 \"lol\">\n";
  for (int i = 1; i < 10; ++i) {
    entities += "<!ENTITY lol" + std::to_string(i) + " \"";
    for (int k = 0; k < 10; ++k) entities += "&lol" + std::to_string(i - 1) + ";";
    entities += "\">\n";
  }
  entities += "]>\n<system version=\"1\">&lol9;</system>\n";
  fs::create_directory(folder_ / "folder.yaml");
  std::vector<std::string> const files{
      write("binary.yaml", std::string("\x7f"
                                       "ELF\0\1\2\xff\xfe",
                                       9) +
                               std::string(4096, '\0')),
      write("truncated.yaml", "lanewise: scenario/1\nscenario: s\ntransfers: [{id: a, from: gpu0"),
      write("empty.yaml", ""),
      write("latin1.yaml", "lanewise: machine/1\nmachine: caf\xe9\n"),
      write("long.yaml", lines),
      write("bomb.yaml", bomb),
      write("entities.yaml", entities),
      at("missing.yaml"),
      at("folder.yaml")};
  auto const out = at("out");
  for (auto const& file : files) {
    expect_refused("show " + file + " -o " + out, file, out);
    expect_refused("why " + file + " gpu0 gpu1", file);
    expect_refused("matrix " + file, file);
    expect_refused("plan " + file + " --on dgx-a100 -o " + out, file, out);
    expect_refused("run " + file + " --on dgx-a100 -o " + out, file, out);
    expect_refused("check " + file + " --on dgx-a100 --baseline " + file, file);
    expect_refused("compare " + file + " " + file, file);
    expect_refused("import nccl " + file + " -o " + out, file, out);
    expect_refused("import topo-m " + file + " -o " + out, file, out);
  }
}

TEST_F(Program, AnErrorInAFileNamesLineColumnAndShowsTheLine) {
  auto const file = write("m.yaml", "lanewise: machine/1\nmachine: m\nsokets: []\n");
  auto const outcome = run_both("show " + file);
  EXPECT_EQ(outcome.code, kBadInput);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr(file + ":3:1: error:"), HasSubstr("sockets"), HasSubstr("sokets: []"), HasSubstr("^")));
}

TEST_F(Program, AnUnwritableOutputIsSaid) {
  auto const target = at("no/such/folder/out");
  expect_refused("show dgx-a100 -o " + target, target);
  expect_refused("plan " + scenario() + " -o " + target, target);
  if (kSim) expect_refused("check " + scenario() + " --junit " + target, target);
}

// ---- bundled

TEST_F(Program, AllBundledScenariosPassWithin512MiB) {
  if (!kSim) GTEST_SKIP() << "needs the simulator";
  constexpr long kMaxKiB = 512 * 1024;
  auto const outcome = run_both("check '" + kRoot + "/scenarios'");
  EXPECT_EQ(outcome.code, kFine) << outcome.output;
  EXPECT_THAT(outcome.output, Not(HasSubstr("FAIL")));
  rusage usage{};
  ASSERT_EQ(getrusage(RUSAGE_CHILDREN, &usage), 0);  // the largest of the programs that ran
  EXPECT_LE(usage.ru_maxrss, kMaxKiB);
}

TEST_F(Program, EveryBundledMachineShowsInEveryFormAndExplainsItsFirstPair) {
  auto const machines = bundled_machines();
  EXPECT_GE(machines.size(), 20U);
  for (auto const& name : machines) {
    std::string tree;
    for (std::string const form : {"tree", "topo", "dot", "json", "yaml"}) {
      auto const outcome = run_both("show " + name + " --as " + form);
      if (form == "tree") tree = outcome.output;
      if (form == "yaml" && is_cluster(name)) {  // a cluster's file names machines; it is not written
        EXPECT_EQ(outcome.code, kBadInput) << name;
        EXPECT_THAT(outcome.output, HasSubstr("only a single machine is written as a machine file")) << name;
        continue;
      }
      EXPECT_EQ(outcome.code, kFine) << name << " as " << form;
      EXPECT_NE(outcome.output, "") << name << " as " << form;
    }
    // gh200 has one GPU: its first pair is that and the host's memory; hosts without GPUs have a NIC.
    auto const node = is_cluster(name) ? std::string("node0/") : std::string();
    auto const has = [&](char const* place) { return tree.find(place) != std::string::npos; };
    auto const why = run_both("why " + name + " " + node + (has("gpu0") ? "gpu0 " : "nic0 ") + node +
                              (has("gpu1") ? "gpu1" : "numa0"));
    EXPECT_EQ(why.code, kFine) << name << "\n" << why.output;
    EXPECT_THAT(why.output, HasSubstr("chosen")) << name;
  }
}

TEST_F(Program, WhatIfNamesThePairTheFigureAndTheRule) {
  auto const outcome = run("whatif rtx6000pro-x8-bcm --set acs=on --json");
  ASSERT_EQ(outcome.code, kFine);
  auto const json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["lanewise"], "whatif/1");
  ASSERT_FALSE(json["changes"].empty());
  auto const& worst = json["changes"][0];
  EXPECT_EQ(worst["because"], "P2P-ACS-REDIRECT");
  if (kSim) {  // the worst is that both directions together get half
    EXPECT_EQ(worst["figure"], "both ways");
    EXPECT_NEAR(worst["ratio"].get<double>(), 0.5, 0.02);
  }
  EXPECT_EQ(run_both("whatif rtx6000pro-x8-bcm").code, kBadInput);
  EXPECT_EQ(run_both("whatif rtx6000pro-x8-bcm --set acs=on --bytes 0B").code, kBadInput);
  EXPECT_THAT(run_both("whatif rtx6000pro-x8-bcm --set acs=on --places gpu9").output, HasSubstr("gpu9"));
}

TEST_F(Program, AccuracyTakesAFileAMachineAndSettings) {
  auto const file = kRoot + "/measurements/published/rtx6000ada-x2-puget.yaml";
  auto const own = nlohmann::json::parse(run("accuracy " + file + " --json").output);
  EXPECT_EQ(own["lanewise"], "accuracy/1");
  EXPECT_EQ(own["points"].size(), 16U);
  auto const first = [](nlohmann::json const& json) { return json["points"][0]["predicted_GBps"].get<double>(); };
  // The command line has the last word: a quarter of the link.
  auto const narrow = nlohmann::json::parse(run("accuracy " + file + " --json --set 'link@gpu0=gen3 x8'").output);
  EXPECT_LT(first(narrow), 0.5 * first(own));
  auto const elsewhere = nlohmann::json::parse(run("accuracy " + file + " --json --on rtx4090-x2-x4").output);
  EXPECT_LT(first(elsewhere), 0.5 * first(own));
  EXPECT_EQ(run_both("accuracy " + file + " --on no-such-machine").code, kBadInput);
  EXPECT_EQ(run_both("accuracy no-such-file.yaml").code, kBadInput);
  EXPECT_THAT(run("accuracy " + file + " --markdown").output, HasSubstr("| rtx6000ada-x2-puget |"));
}

// Fitted to a file, the machine is changed for every command, and for no other machine.
TEST_F(Program, ACalibrationIsWrittenAndTakenByEveryCommand) {
  auto const file = kRoot + "/measurements/recorded/h200x2-vm-2026-11.yaml";
  auto const overlay = at("h200.calibration.yaml");
  auto const fitted = run("calibrate h200x8-vm " + file + " -o " + overlay);
  ASSERT_EQ(fitted.code, kFine);
  EXPECT_THAT(fitted.output, AllOf(HasSubstr("nvlink-4 copy_efficiency"), HasSubstr("95 % interval"),
                                   HasSubstr("no measured figure hangs on it")));
  auto const json = nlohmann::json::parse(run("calibrate h200x8-vm " + file + " --json").output);
  EXPECT_EQ(json["lanewise"], "calibration/1");
  auto const error = [&](char const* when) { return json["fit"][when]["median_error"].get<double>(); };
  EXPECT_LT(error("after"), 0.02);
  EXPECT_LT(error("after"), 0.5 * error("before"));
  auto const time = [&](std::string const& rest) {
    auto const why = nlohmann::json::parse(run("why h200x8-vm gpu0 numa0 --bytes '4 B' --json " + rest).output);
    return why["candidates"][1]["time_us"].get<double>();
  };
  EXPECT_NEAR(time("--calibration " + overlay), 2.13, 0.05);  // as the file has it
  EXPECT_LT(time(""), 1.8);
  EXPECT_EQ(time("--calibration " + write("overlay.json", json.dump())), time("--calibration " + overlay));
  auto const shown = write("both.yaml", run("show h200x8-vm --as yaml --calibration " + overlay).output);
  EXPECT_EQ(run("matrix " + shown + " --json").output, run("matrix h200x8-vm --json --calibration " + overlay).output);
  auto const book = run("accuracy " + file + " --calibration " + overlay);
  EXPECT_THAT(book.output, HasSubstr("26 that the calibration was fitted to are not counted"));
  auto const other = run_both("show hgx-h100 --calibration " + overlay);
  EXPECT_EQ(other.code, kBadInput);
  EXPECT_THAT(other.output, HasSubstr("of 'h200x8-vm', not of 'hgx-h100'"));
  EXPECT_EQ(run_both("calibrate h200x8-vm " + file + " --calibration " + overlay).code, kBadInput);
  expect_refused("show h200x8-vm --calibration " + at("missing.yaml"), "missing.yaml");
  EXPECT_THAT(run_both("calibrate h200x8-vm " + file + " --patterns host-copes").output,
              HasSubstr("did you mean 'host-copies'?"));
}

}  // namespace
