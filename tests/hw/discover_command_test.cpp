// The command `lanewise discover` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/hw/fake_system.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise::hw {
namespace {

using test::FakeSystem;
using testing::HasSubstr;
using testing::Not;

struct Outcome {
  int code = -1;
  std::string output;
};

// Runs `lanewise discover` in a shell; `arguments` may redirect.
Outcome run(std::string const& arguments, std::string const& environment = {}) {
  Outcome outcome;
  auto* pipe = popen((environment + " " + LANEWISE_PROGRAM + " discover " + arguments).c_str(), "r");
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

// As `import` prints them.
TEST(DiscoverCommand, WhatNoSourceSaysIsAWarning) {
  FakeSystem const system;
  test::fill_two_sockets(system);
  auto const outcome = run("--sysfs " + system.sys().string() + " 2>&1 >/dev/null");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("\nwarning: inferred: "));
  EXPECT_THAT(outcome.output, Not(HasSubstr("note: inferred:")));
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

TEST(DiscoverCommand, ComparedWithAMachineFile) {
  FakeSystem const system;
  test::fill_two_sockets(system);
  auto const described = (system.sys() / "../described.yaml").string();
  auto const sysfs = "--sysfs " + system.sys().string();
  ASSERT_EQ(run(sysfs + " -o " + described + " 2>&1").code, 0);
  auto const same = run(sysfs + " --against " + described + " 2>&1 >/dev/null");
  EXPECT_EQ(same.code, 0) << same.output;
  EXPECT_THAT(same.output, HasSubstr(":\nequal\n"));

  FakeSystem const other;
  test::fill_two_sockets(other);
  auto const port = "sys/devices/pci0000:ba/0000:ba:00.0/0000:bb:00.0/";
  other.write(std::string(port) + "current_link_width", "8");
  auto const narrow = run("--sysfs " + other.sys().string() + " --json --against " + described + " 2>/dev/null");
  EXPECT_EQ(narrow.code, 1);
  auto const comparison = nlohmann::json::parse(narrow.output).at("comparison");
  EXPECT_EQ(comparison.at("result"), "different");
  ASSERT_EQ(comparison.at("differences").size(), 1U) << comparison;
  EXPECT_EQ(comparison.at("differences")[0].at("second"), "gen4 x8");
  EXPECT_EQ(run("--sysfs " + other.sys().string() + " --expected link --against " + described + " 2>&1").code, 0);
  EXPECT_EQ(run(sysfs + " --expected links --against " + described + " 2>&1").code, 2);
}

// What `export nvml-mock` writes is read back as the machine, but for what sysfs cannot say.
TEST(DiscoverCommand, ReadsBackTheMockOfASystem) {
  for (std::string const name : {"hgx-h100", "dgx-1-v100", "a100x8-pcie-4sw", "rtx6000pro-x16-4root", "ac922"}) {
    test::TemporaryFolder const folder;
    auto const mock = (folder.path() / "mock").string();
    ASSERT_EQ(
        std::system(
            (std::string(LANEWISE_PROGRAM) + " export nvml-mock " + name + " -o " + mock + " 2>/dev/null").c_str()),
        0);
    auto const outcome = run("--sysfs " + mock + "/sys --json --against " + name + " 2>/dev/null");
    EXPECT_EQ(outcome.code, 0) << name;
    auto const comparison = nlohmann::json::parse(outcome.output).at("comparison");
    EXPECT_NE(comparison.at("result"), "different") << name << comparison.at("differences").dump(1);
  }
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

// Runs `lanewise discover` with the stand-in drivers of tests/hw/fake_drivers.cpp in front of any real ones.
Outcome run_with_drivers(std::string const& environment, std::string const& arguments) {
  return run(arguments, environment + " LD_LIBRARY_PATH=" + LANEWISE_FAKE_DRIVERS);
}

nlohmann::json find_by_address(nlohmann::json const& list, std::string const& bdf) {
  for (auto const& item : list)
    if (item.value("bdf", "") == bdf) return item;
  return {};
}

TEST(DiscoverCommand, DriversAreLoadedAndAsked) {
  auto const outcome = run_with_drivers("", "--json 2>/dev/null");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  auto const json = nlohmann::json::parse(outcome.output);
  auto const& nvml = json.at("observed").at("nvml");
  EXPECT_EQ(nvml.at("driver"), "580.1");
  EXPECT_EQ(nvml.at("gpus").at(1).at("bdf"), "abcd:f0:07.0");
  EXPECT_EQ(nvml.at("gpus").at(0).at("nvlinks").size(), 18U);
  EXPECT_EQ(nvml.at("pairs").at(0).at("atomics"), "CNS");
  EXPECT_EQ(nvml.at("pairs").at(0).at("ancestor"), "SYS");
  auto const& cuda = json.at("observed").at("cuda");
  EXPECT_EQ(cuda.at("gpus").at(0).at("bdf"), "abcd:f0:06.0");
  EXPECT_EQ(cuda.at("gpus").at(0).at("compute_capability"), "9.0");
  EXPECT_TRUE(cuda.at("pairs").at(0).at("access"));
  // A GPU that sysfs does not have is put on the root bus.
  nlohmann::json gpu;
  for (auto const& socket : json.at("machine").at("sockets"))
    if (gpu.is_null()) gpu = find_by_address(socket.value("pcie", nlohmann::json::array()), "abcd:f0:07.0");
  EXPECT_EQ(gpu.at("part"), "h200-sxm5-141g");
  EXPECT_EQ(gpu.at("link"), "gen5 x16");
  EXPECT_EQ(gpu.at("mig"), true);
  EXPECT_EQ(json.at("machine").at("nvlinks").at(0).at("count"), 18);
  EXPECT_THAT(outcome.output, HasSubstr("abcd:f0:07.0 could not be woken"));
  EXPECT_THAT(outcome.output, HasSubstr("no PCIe link, but NVML does, of gpu"));
}

TEST(DiscoverCommand, ADriverThatDoesNotStartIsANote) {
  auto const outcome = run_with_drivers("FAKE_DRIVER=broken", "2>&1");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("note: NVML does not start: Driver Not Loaded"));
  EXPECT_THAT(outcome.output, HasSubstr("note: cuInit: no CUDA-capable device is detected"));
}

TEST(DiscoverCommand, BadInputEndsWithCode2) {
  EXPECT_EQ(run("--sysfs /nowhere 2>/dev/null").code, 2);
  EXPECT_EQ(run("--roles /nowhere.yaml 2>/dev/null").code, 2);
  EXPECT_EQ(run("--name 'a b' 2>/dev/null").code, 2);
  EXPECT_EQ(run("-o /nowhere/out.yaml 2>/dev/null").code, 2);
}

}  // namespace
}  // namespace lanewise::hw
