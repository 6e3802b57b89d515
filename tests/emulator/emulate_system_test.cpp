// Boots machines in QEMU and compares what Linux finds there with the machine file. Skipped, with the reason, where
// QEMU or a kernel is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/interop/machines/roles.hpp"
#include "core/machine/path_class.hpp"
#include "emulator/qemu.hpp"
#include "emulator/ssh.hpp"
#include "process/process.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/parameter_name.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise::emulator {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

struct Said {
  int code = -1;
  std::string output;
};

// Runs `lanewise emulate ARGUMENTS` in a shell. No test here waits longer than that allows; a host that is busy with
// something else may take many times what a quiet one does.
Said emulate(std::string const& arguments) {
  Said said;
  auto const line = "'" + std::string(LANEWISE_PROGRAM) + "' emulate " + arguments;
  auto* pipe = popen(line.c_str(), "r");
  std::array<char, 65536> chunk{};
  while (auto const n = std::fread(chunk.data(), 1, chunk.size(), pipe)) said.output.append(chunk.data(), n);
  auto const status = pclose(pipe);
  said.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return said;
}

// Why nothing can be booted here; empty when it can. The first call may fetch a kernel.
std::string const& why_not() {
  static std::string const why = [] {
    auto const said = emulate("gh200 --print 2>&1");
    return said.code == 0 ? std::string() : said.output;
  }();
  return why;
}

class Emulated : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_not().empty()) GTEST_SKIP() << why_not();
  }
};

// ------------------------------------------------------------------------------------------------------- the tree

class EmulatedMachine : public Emulated, public testing::WithParamInterface<char const*> {
 protected:
  // The function of the nearest bridge above that stands for something of the machine.
  std::string parent_of(std::string const& bdf, std::vector<Role> const& roles) const {
    auto path = fs::path(tree_["functions"][bdf]["path"].get<std::string>()).parent_path();
    for (; path.filename().string().find('.') != std::string::npos; path = path.parent_path())
      if (auto const* role = find_role(roles, path.filename().string())) return role->name;
    return "";
  }
  void expect_tree(Machine const& machine) const;
  void expect_discovered(Machine const& machine, std::string const& text) const;
  json tree_;
};

std::string_view class_of(PciKind kind) {
  switch (kind) {
    case PciKind::RootPort:
    case PciKind::Switch: return "0x0604";  // PCI bridge
    case PciKind::Gpu: return "0x0500";     // memory: a stand-in shows itself as no display or accelerator
    case PciKind::Nic: return "0x0200";
    case PciKind::Nvme: return "0x0108";
    case PciKind::Device: break;
  }
  return "0x00ff";
}

// What hangs from a port, or nullopt.
std::optional<PciId> child_of(Machine const& machine, PciId port) {
  for (std::size_t i = 0; i < machine.functions.size(); ++i)
    if (machine.functions[i].parent == port) return PciId(i);
  return std::nullopt;
}

void EmulatedMachine::expect_tree(Machine const& machine) const {
  auto const roles = read_roles(SourceText::from_memory("roles.yaml", tree_["roles"])).roles;
  auto const newest = find_qemu().newest_link;
  auto const iommu = machine.hosts[0].settings.iommu;
  std::size_t found = 0;
  for (auto const& role : roles) {
    SCOPED_TRACE(role.name + " at " + role.bdf);
    ASSERT_TRUE(tree_["functions"].contains(role.bdf));
    auto const& seen = tree_["functions"][role.bdf];
    EXPECT_EQ(seen["group"] != "", iommu != IommuMode::Off && iommu != IommuMode::Unknown);
    if (role.kind == RoleKind::Platform) continue;
    ++found;
    auto const id = machine.find_function(role.name).value();
    auto const& function = machine.at(id);
    EXPECT_EQ(parent_of(role.bdf, roles), function.parent ? machine.at(*function.parent).name : "");
    // Devices of a flat tree are on the first root bus, which is near no node.
    EXPECT_EQ(seen["numa"], role.bdf.starts_with("0000:00:") ? "-1" : std::to_string(index(machine.numa_of(id))));
    EXPECT_THAT(seen["class"].get<std::string>(), testing::StartsWith(class_of(function.kind)));
    // What hangs from a root port decides what the port is given.
    auto const child = function.kind == PciKind::RootPort ? child_of(machine, id) : std::nullopt;
    if (!child) continue;
    auto const& below = machine.at(*child);
    auto const link = below.link ? below.link : assumed_link(machine, *child);
    if (link) {
      constexpr std::array kSpeeds{"2.5", "5.0", "8.0", "16.0", "32.0", "64.0"};
      auto const generation = std::min(link->generation, newest);
      EXPECT_THAT(seen["max_speed"].get<std::string>(),
                  testing::StartsWith(kSpeeds.at(static_cast<std::size_t>(generation - 1))));
      EXPECT_EQ(seen["max_width"], std::to_string(link->width));
      // A GPU's or a NIC's stand-in has no link of its own, so the port runs at what it can do.
      if (below.kind == PciKind::Gpu || below.kind == PciKind::Nic) {
        EXPECT_EQ(seen["speed"], seen["max_speed"]);
      }
    }
    if (auto const acs = machine.acs_above(*child); acs.known) {
      EXPECT_EQ(seen["acs"], acs.bits);
    }
  }
  EXPECT_EQ(found, machine.functions.size());
}

// What QEMU can express comes back.
void EmulatedMachine::expect_discovered(Machine const& machine, std::string const& text) const {
  auto const found = test::bundled().machine_from(SourceText::from_memory("discovered.yaml", text));
  EXPECT_EQ(found.functions.size(), machine.functions.size()) << text;
  auto const iommu = machine.hosts[0].settings.iommu;
  EXPECT_EQ(found.hosts[0].settings.iommu, iommu == IommuMode::Unknown ? IommuMode::Off : iommu) << text;
  EXPECT_EQ(found.sockets.size(), machine.sockets.size());
  EXPECT_EQ(found.numa_nodes.size(), machine.numa_nodes.size());
  for (std::size_t i = 0; i < std::min(found.sockets.size(), machine.sockets.size()); ++i) {
    auto const* cpu = machine.part_of(SocketId(i));
    auto const* seen_cpu = found.part_of(SocketId(i));
    EXPECT_EQ(seen_cpu != nullptr ? seen_cpu->name : "", cpu != nullptr ? cpu->name : "");
  }
  auto const newest = find_qemu().newest_link;
  for (std::size_t i = 0; i < machine.functions.size(); ++i) {
    auto const& wanted = machine.functions[i];
    SCOPED_TRACE(wanted.name);
    auto const at = found.find_function(wanted.name);
    ASSERT_TRUE(at) << text;
    auto const& seen = found.at(*at);
    EXPECT_EQ(seen.kind, wanted.kind);
    if (!wanted.device_name.empty()) {
      EXPECT_EQ(seen.device_name, wanted.device_name);
    }
    auto const* part = machine.part_of(PciId(i));
    auto const* seen_part = found.part_of(*at);
    EXPECT_EQ(seen_part != nullptr ? seen_part->name : "", part != nullptr ? part->name : "");
    EXPECT_EQ(seen.parent ? found.at(*seen.parent).name : "", wanted.parent ? machine.at(*wanted.parent).name : "");
    if (wanted.kind != PciKind::RootPort) continue;
    EXPECT_EQ(index(found.numa_of(*at)), index(machine.numa_of(PciId(i))));
    EXPECT_EQ(index(found.socket_of(*at)), index(machine.socket_of(PciId(i))));
    for (std::size_t k = 0; k < i; ++k) {
      if (machine.functions[k].kind != PciKind::RootPort) continue;
      auto const other = found.find_function(machine.functions[k].name).value();
      EXPECT_EQ(seen.host_bridge == found.at(other).host_bridge, wanted.host_bridge == machine.functions[k].host_bridge)
          << "sharing a host bridge with " << machine.functions[k].name;
    }
    auto const child = child_of(machine, PciId(i));
    auto const seen_child = child_of(found, *at);
    ASSERT_EQ(child.has_value(), seen_child.has_value());
    if (!child) continue;
    if (auto const acs = machine.acs_above(*child); acs.known) {
      EXPECT_EQ(found.acs_above(*seen_child), acs) << to_string(found.acs_above(*seen_child));
    }
    auto const kind = machine.at(*child).kind;
    auto link = machine.at(*child).link ? machine.at(*child).link : assumed_link(machine, *child);
    if (!link || (kind != PciKind::Gpu && kind != PciKind::Nic)) continue;  // the others have links of QEMU's own
    link->generation = std::min(link->generation, newest);
    EXPECT_EQ(found.at(*seen_child).link, link);
  }
}

// The machine file, booted: its tree as Linux shows it, and what `lanewise discover` makes of that, which differs from
// the file only where QEMU cannot show it. One boot for both.
TEST_P(EmulatedMachine, IsWhatItsFileSays) {
  auto const machine = test::bundled().machine(GetParam());
  auto const said =
      emulate(std::string(GetParam()) + " --json --boot-timeout 240 --timeout 240 -- sh -ec '" +
              LANEWISE_LIST_PCI_TREE + "; printf \"\\f\"; lanewise discover --against " + GetParam() + "'");
  ASSERT_EQ(said.code, 0) << said.output;
  auto const report = json::parse(said.output);
  EXPECT_TRUE(report["nodes"][0]["notes"].empty()) << report["nodes"][0]["notes"];
  RecordProperty("ready_s", report["ready_s"].dump());
  auto const output = report["nodes"][0]["output"].get<std::string>();
  auto const end_of_tree = output.find('\f');
  ASSERT_NE(end_of_tree, std::string::npos) << output;
  tree_ = json::parse(output.substr(0, end_of_tree));
  expect_tree(machine);
  expect_discovered(machine, output.substr(end_of_tree + 1));
}

INSTANTIATE_TEST_SUITE_P(Bundled, EmulatedMachine,
                         testing::Values("a100x8-pcie-4sw", "dgx-h100", "rtx6000pro-x8-bcm", "epyc-mi60-x8", "gh200",
                                         "h200x8-vm", "ac922", "rtx6000pro-x16-2root"),
                         [](auto const& of) { return test::parameter_name(of.param); });

// -------------------------------------------------------------------------------------------------------- commands

// One boot for all that needs no other: booting takes the longest.
TEST_F(Emulated, ACommandRunsAsItWouldHere) {
  test::TemporaryFolder const folder;
  auto const script = folder.with("script.sh",
                                  "pwd\n"
                                  "echo to errors >&2\n"
                                  "echo \"$1 $LANEWISE_TEST_WORD\"\n"
                                  "echo kept > " +
                                      (folder.path() / "shared/kept").string() +
                                      "\n"
                                      "echo lost > " +
                                      (folder.path() / "lost").string() +
                                      " && echo written\n"
                                      "no-such-program-here\n"
                                      "echo \"code $?\"\n"
                                      "exit 7\n");
  fs::create_directory(folder.path() / "shared");
  auto const said =
      emulate("gh200 --boot-timeout 240 --timeout 240 --json --writable " + (folder.path() / "shared").string() +
              " -- env LANEWISE_TEST_WORD=word sh " + script.string() + " 'two words'");
  EXPECT_EQ(said.code, 7) << said.output;
  auto const report = json::parse(said.output);
  auto const& node = report["nodes"][0];
  EXPECT_EQ(node["output"], fs::current_path().string() + "\ntwo words word\nwritten\ncode 127\n");
  EXPECT_THAT(node["errors"].get<std::string>(), HasSubstr("to errors"));
  EXPECT_EQ(node["exit_code"], 7);
  EXPECT_EQ(report["failure"], "");
  EXPECT_TRUE(fs::exists(folder.path() / "shared/kept"));
  EXPECT_FALSE(fs::exists(folder.path() / "lost")) << "the guest wrote to the host";
}

// Processes with a word in their command line.
int processes_with(std::string const& word) {
  int count = 0;
  for (auto const& entry : fs::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline");
    std::string const line{std::istreambuf_iterator<char>(in), {}};
    if (line.find("qemu-system") != std::string::npos && line.find(word) != std::string::npos) ++count;
  }
  return count;
}

// Starts two nodes, whose QEMUs can be told by a folder's name; returns once both run.
class Started {
 public:
  explicit Started(std::string const& folder) {
    pid_ = fork();
    if (pid_ == 0) {
      execl(LANEWISE_PROGRAM, "lanewise", "emulate", "gh200", "--nodes", "2", "--writable", folder.c_str(), "--",
            "sleep", "600", nullptr);
      _exit(127);
    }
    for (int i = 0; i < 600 && processes_with(folder) < 2; ++i) usleep(50'000);
  }
  int end_by(int signal) const {
    kill(pid_, signal);
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
};

TEST_F(Emulated, ACommandReadsWhatIsPipedIn) {
  auto const line =
      std::string("printf 'two\\nlines\\n' | '") + LANEWISE_PROGRAM +
      "' emulate soft-roce-1nic -i --qemu-device qemu-xhci --append lanewise.test=word --boot-timeout 240 -- "
      "sh -c 'cat; cat /proc/cmdline; cat /sys/bus/pci/devices/*/class' 2>/dev/null";
  auto* pipe = popen(line.c_str(), "r");
  std::array<char, 4096> text{};
  auto const count = std::fread(text.data(), 1, text.size() - 1, pipe);
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 0);
  std::string const output(text.data(), count);
  EXPECT_THAT(output, testing::StartsWith("two\nlines\n"));
  EXPECT_THAT(output, HasSubstr(" lanewise.test=word"));
  EXPECT_THAT(output, HasSubstr("0x0c0330")) << "the USB controller that was added";
}

TEST_F(Emulated, NothingIsLeftAfterASignal) {
  for (auto const signal : {SIGINT, SIGTERM, SIGKILL}) {
    test::TemporaryFolder const folder;
    Started const started(folder.path());
    ASSERT_EQ(processes_with(folder.path()), 2);
    EXPECT_EQ(started.end_by(signal), 128 + signal);
    // The kernel kills those of a killed owner, which takes a moment.
    for (int i = 0; i < 600 && processes_with(folder.path()) > 0; ++i) usleep(50'000);
    EXPECT_EQ(processes_with(folder.path()), 0) << "after signal " << signal;
  }
}

// A QEMU that crashes at the first boot stands in PATH before the installed one, which it runs otherwise.
TEST_F(Emulated, GuestsAreBootedOnceMoreWhenQemuCrashes) {
  test::TemporaryFolder const folder;
  auto const program = folder.path() / "qemu-system-x86_64";
  auto const crashed = folder.path() / "crashed";
  std::ofstream(program) << "#!/bin/sh\n"
                         << "case \"$*\" in *-kernel*) [ -e '" << crashed.string() << "' ] || { echo 1 >'"
                         << crashed.string() << "'; kill -SEGV $$; };; esac\n"
                         << "exec '" << find_program("qemu-system-x86_64")->string() << "' \"$@\"\n";
  fs::permissions(program, fs::perms::owner_all);
  std::string const path = std::getenv("PATH");
  setenv("PATH", (folder.path().string() + ":" + path).c_str(), 1);
  auto const said = emulate("gh200 --accel tcg --boot-timeout 240 -- echo begun 2>&1");
  setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(fs::exists(crashed));
  EXPECT_EQ(said.code, 0) << said.output;
  EXPECT_THAT(said.output, HasSubstr("begun"));
  EXPECT_THAT(said.output, HasSubstr("node0: booted once more: QEMU crashed (Segmentation fault), and with it node0"));
}

TEST_F(Emulated, WhatTakesTooLongIsEnded) {
  auto const booting = emulate("dgx-h100 --boot-timeout 1 -- true 2>&1");
  EXPECT_EQ(booting.code, 124);
  EXPECT_THAT(booting.output, HasSubstr("booting took longer than 1 s"));
  auto const running = emulate("gh200 --boot-timeout 240 --timeout 1 -- sleep 600 2>&1");
  EXPECT_EQ(running.code, 124);
  EXPECT_THAT(running.output, HasSubstr("running the command took longer than 1 s"));
}

// ----------------------------------------------------------------------------------------------------------- nodes

TEST_F(Emulated, NodesReachOneAnotherAsInACluster) {
  if (!SshAccess::missing().empty()) GTEST_SKIP() << SshAccess::missing();
  std::string command = "hostname && ssh node1 hostname && ls /sys/class/infiniband && getent hosts node1";
  bool const mpi = find_program("mpirun").has_value();
  if (mpi) command += " && mpirun --host node0,node1 -n 2 hostname | sort";
  auto const said = emulate("a30-2 --json --boot-timeout 240 --timeout 240 -- sh -c '" + command + "'");
  ASSERT_EQ(said.code, 0) << said.output;
  auto const report = json::parse(said.output);
  RecordProperty("ready_s", report["ready_s"].dump());
  EXPECT_THAT(report["nodes"][0]["output"].get<std::string>(),
              testing::MatchesRegex(std::string("node0\nnode1\nrxe_nic0\n10.77.255.2 +node1\n") +
                                    (mpi ? "node0\nnode1\n" : "")));
  EXPECT_EQ(report["nodes"][1]["exit_code"], nullptr) << "it was asked for nothing";
}

TEST_F(Emulated, ThreeNodesAreJoinedByASwitch) {
  if (!SshAccess::missing().empty()) GTEST_SKIP() << SshAccess::missing();
  auto const said = emulate(
      "gh200 --nodes 3 --on node2 --boot-timeout 240 --timeout 240 -- sh -c 'ssh node0 hostname; ssh node1 hostname'");
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.output, "node0\nnode1\n");
}

TEST_F(Emulated, ACommandOnAllNodesSaysWhichSaidWhat) {
  auto const said = emulate(
      "gh200 --nodes 2 --on all --boot-timeout 240 --timeout 240 -- sh -c 'echo I am $(hostname); test $(hostname) = "
      "node0'");
  EXPECT_EQ(said.code, 1) << "node1 failed";
  EXPECT_THAT(said.output, HasSubstr("node0: I am node0\n"));
  EXPECT_THAT(said.output, HasSubstr("node1: I am node1\n"));
}

// ------------------------------------------------------------------------------------------------------------ usage

TEST(EmulateUsage, WhatIsMissingExitsWithThreeAndSaysWhatProvidesIt) {
  auto const line = std::string("env PATH=/nonexistent '") + LANEWISE_PROGRAM + "' emulate gh200 -- true 2>&1";
  auto* pipe = popen(line.c_str(), "r");
  std::array<char, 4096> text{};
  auto const count = std::fread(text.data(), 1, text.size() - 1, pipe);
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 3);
  EXPECT_THAT(std::string(text.data(), count), HasSubstr("install the package qemu-system-x86"));
}

TEST(EmulateUsage, BadInputExitsWithTwo) {
  EXPECT_EQ(emulate("no-such-machine -- true 2>/dev/null").code, 2);
  EXPECT_EQ(emulate("gh200 --nodes 0 -- true 2>/dev/null").code, 2);
  EXPECT_EQ(emulate("gh200 --nodes 2 --on node2 -- true 2>/dev/null").code, 2);
  EXPECT_EQ(emulate("a30-2 --nodes 3 -- true 2>/dev/null").code, 2);
  EXPECT_EQ(emulate("gh200 --writable /nonexistent -- true 2>/dev/null").code, 2);
  EXPECT_EQ(emulate("gh200 --kernel /nonexistent -- true 2>/dev/null").code, 2);
  EXPECT_EQ(emulate("gh200 --kernel /bin/sh -- true 2>/dev/null").code, 2);
  EXPECT_EQ(emulate("gh200 --modules /lib -- true 2>/dev/null").code, 2);
  EXPECT_EQ(emulate("a30-2 -i --on all -- true 2>/dev/null").code, 2);
  EXPECT_EQ(emulate("gh200 -i --json -- true 2>/dev/null").code, 2);
}

}  // namespace
}  // namespace lanewise::emulator
