// The command `lanewise discover` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tests/hw/fake_system.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise::hw {
namespace {

using test::FakeSystem;
using testing::HasSubstr;

struct Outcome {
  int code = -1;
  std::string output;
};

// Runs `lanewise discover` in a shell; `arguments` may redirect.
Outcome run(std::string const& arguments) {
  Outcome outcome;
  auto* pipe = popen((std::string(LANEWISE_PROGRAM) + " discover " + arguments).c_str(), "r");
  std::array<char, 4096> chunk{};
  while (auto const n = std::fread(chunk.data(), 1, chunk.size(), pipe)) outcome.output.append(chunk.data(), n);
  outcome.code = WEXITSTATUS(pclose(pipe));
  return outcome;
}

TEST(DiscoverCommand, DescribesThisVeryMachine) {
  auto const outcome = run("--name here 2>/dev/null");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  auto catalogue = bundled();
  auto const machine = catalogue.machine_from(SourceText::from_memory("here.yaml", outcome.output));
  EXPECT_EQ(machine.name, "here");
  EXPECT_FALSE(machine.sockets.empty());
}

TEST(DiscoverCommand, WritesAFileAndSaysWhatItFound) {
  FakeSystem const system;
  test::fill_two_sockets(system);
  auto const target = (system.sys() / "../out.yaml").string();
  auto const outcome = run("--sysfs " + system.sys().string() + " -o " + target + " 2>&1");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("2 sockets, 2 NUMA nodes, 1 PCIe switch, 3 GPUs, 1 NIC, 0 NVMe drives\n"));
  auto catalogue = bundled();
  EXPECT_EQ(catalogue.machine(target).all(PciKind::Gpu).size(), 3U);
}

TEST(DiscoverCommand, JsonComparedWithTheTableOfNvidiaSmi) {
  FakeSystem const system;
  test::fill_two_sockets(system);
  system.write("topo.txt", "\tGPU0\tGPU1\tGPU2\nGPU0\t X \tPIX\tSYS\nGPU1\tPIX\t X \tNODE\nGPU2\tSYS\tNODE\t X ");
  auto const outcome = run("--sysfs " + system.sys().string() + " --json --against " +
                           (system.sys() / "../topo.txt").string() + " 2>/dev/null");
  auto const json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json.at("lanewise"), "discovery/1");
  ASSERT_EQ(json.at("findings").size(), 1U) << json.at("findings");
  EXPECT_EQ(json.at("findings")[0].at("text"), "nvidia-smi says NODE, the machine SYS");
}

TEST(DiscoverCommand, RolesComeFromAFile) {
  FakeSystem const system;
  system.add("pci0000:10/0000:10:00.0", test::bridge(test::kRootPort));
  system.add("pci0000:10/0000:10:00.0/0000:11:00.0", test::endpoint("0x00ff00", "1b36:0005"));
  system.write("roles.yaml",
               "lanewise: roles/1\nroles: [{bdf: \"0000:11:00.0\", name: gpu0, kind: gpu, part: a100-pcie-80g}]");
  auto const outcome = run("--sysfs " + system.sys().string() + " --roles " +
                           (system.sys() / "../roles.yaml").string() + " 2>/dev/null");
  EXPECT_THAT(outcome.output, HasSubstr("gpu: gpu0"));
}

TEST(DiscoverCommand, BadInputEndsWithCode2) {
  EXPECT_EQ(run("--sysfs /nowhere 2>/dev/null").code, 2);
  EXPECT_EQ(run("--roles /nowhere.yaml 2>/dev/null").code, 2);
  EXPECT_EQ(run("--name 'a b' 2>/dev/null").code, 2);
  EXPECT_EQ(run("-o /nowhere/out.yaml 2>/dev/null").code, 2);
}

}  // namespace
}  // namespace lanewise::hw
