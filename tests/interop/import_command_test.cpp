// Tests `lanewise import` from outside: what it writes, where, and that a failure leaves nothing behind.
#include <sys/wait.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/measurement/measurement.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

struct Outcome {
  int code = -1;
  std::string output;
};

constexpr auto* kFile =
    R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
  <pci busid="0000:18:00.0" class="0x030200" vendor="0x10de" device="0x20b5" link_speed="8 GT/s" link_width="16"/></cpu></system>)";
constexpr auto* kTwoGpus = "GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\n";

class ImportCommand : public testing::Test {
 protected:
  void SetUp() override {
    auto pattern = (fs::temp_directory_path() / "lanewise-import-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(std::string const& name, std::string const& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  // Runs `lanewise` in a shell; `arguments` may redirect.
  static Outcome run(std::string const& arguments) {
    Outcome outcome;
    auto* pipe = popen((std::string(LANEWISE_PROGRAM) + " " + arguments).c_str(), "r");
    std::array<char, 4096> chunk{};
    while (auto const n = std::fread(chunk.data(), 1, chunk.size(), pipe)) outcome.output.append(chunk.data(), n);
    outcome.code = WEXITSTATUS(pclose(pipe));
    return outcome;
  }

  fs::path folder_;
};

TEST_F(ImportCommand, PrintsYamlAndNotesApart) {
  auto const file = write("node.xml", kFile);
  auto const yaml = run("import nccl " + file + " --name lab-7 2>/dev/null");
  EXPECT_EQ(yaml.code, 0);
  EXPECT_THAT(yaml.output, HasSubstr("machine: lab-7"));
  auto catalogue = bundled();
  EXPECT_EQ(catalogue.machine_from(SourceText::from_memory("out.yaml", yaml.output)).hosts[0].machine, "lab-7");
  EXPECT_THAT(run("import nccl " + file + " 2>&1 >/dev/null").output, HasSubstr("note: NCCL's file does not say"));
}

TEST_F(ImportCommand, WarnsOfWhatIsInferredAndNamesTheOption) {
  auto const outcome = run("import topo-m " + write("topo.txt", kTwoGpus) + " 2>&1 >/dev/null").output;
  EXPECT_THAT(outcome, HasSubstr("warning: inferred: 'gpu-generic', a generic part with a wide range, stands for the "
                                 "GPUs, whose product the table does not say; --gpu names the exact one"));
  EXPECT_THAT(outcome, HasSubstr("note: the table does not say: PCIe links"));
  EXPECT_THAT(run("import topo-m " + write("topo.txt", kTwoGpus) + " --gpu a100-pcie-80g 2>&1 >/dev/null").output,
              Not(HasSubstr("--gpu")));
}

TEST_F(ImportCommand, JsonIsTheSameTree) {
  auto const json = run("import nccl " + write("node.xml", kFile) + " --json 2>/dev/null");
  EXPECT_EQ(nlohmann::json::parse(json.output).at("lanewise"), "machine/1");
}

TEST_F(ImportCommand, ReadsStandardInputAndWritesAFile) {
  auto const target = (folder_ / "out.yaml").string();
  auto const outcome =
      run("import topo-m - --gpu a100-pcie-80g -o " + target + " < " + write("topo.txt", kTwoGpus) + " 2>/dev/null");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output, "");
  auto catalogue = bundled();
  EXPECT_EQ(catalogue.machine(target).all(PciKind::Gpu).size(), 2U);
}

TEST_F(ImportCommand, AFailureLeavesNoFile) {
  auto const target = (folder_ / "out.yaml").string();
  auto const outcome =
      run("import nccl " + write("bad.xml", "<system version=\"1\">\n<cpu") + " -o " + target + " 2>&1");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("bad.xml:2:"));
  EXPECT_FALSE(fs::exists(target));
  EXPECT_EQ(
      run("import nccl " + write("node.xml", kFile) + " -o " + (folder_ / "no/such/out.yaml").string() + " 2>/dev/null")
          .code,
      2);
  EXPECT_EQ(run("import nccl " + write("node.xml", kFile) + " --name 'a b' 2>/dev/null").code, 2);
  EXPECT_EQ(run("import nccl " + (folder_ / "missing.xml").string() + " 2>/dev/null").code, 2);
}

constexpr auto* kHostCopies =
    "Running host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n"
    "          0         1         2         3\n0     26.1      26.2      6.5      26.0\n";

TEST_F(ImportCommand, ABenchmarkBecomesAMeasurement) {
  auto const target = (folder_ / "m.yaml").string();
  auto const outcome = run("import nvbandwidth " + write("out.txt", kHostCopies) +
                           " --machine a100x8-pcie-4sw --name lab --bytes 64MiB -o " + target + " 2>&1");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.output, "");  // the size is said, so nothing is to be noted
  auto const measurement = read_measurement(SourceText::load(target));
  EXPECT_EQ(measurement.name, "lab");
  EXPECT_EQ(measurement.series.at(0).points.at(3).bytes, Bytes(64 << 20));
  EXPECT_EQ(run("accuracy " + target).code, 0);
  EXPECT_EQ(run("import nvbandwidth " + write("out.txt", kHostCopies) + " 2>/dev/null").code, 2);  // of which machine?
}

TEST_F(ImportCommand, JudgeNamesTheCauseAndFails) {
  auto const file = write("out.txt", kHostCopies);
  auto const outcome = run("judge a100x8-pcie-4sw " + file + " 2>/dev/null");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("Cause 1: the PCIe link of gpu2"));
  // Said of the machine, it is as it should be.
  auto const known = run("judge a100x8-pcie-4sw - --set 'link@gpu2=gen4 x4' --json < " + file + " 2>/dev/null");
  EXPECT_EQ(known.code, 0);
  EXPECT_EQ(nlohmann::json::parse(known.output).at("grade"), "pass");
}

TEST_F(ImportCommand, JudgeRefusesOtherFiles) {
  auto const other = run("judge a100x8-pcie-4sw " + write("topo.txt", kTwoGpus) + " 2>&1");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.output, HasSubstr("neither a measurement file nor the output of a known benchmark"));
  EXPECT_EQ(run("judge a100x8-pcie-4sw /nonexistent 2>/dev/null").code, 2);
  EXPECT_EQ(run("judge nothing-like-it " + write("out.txt", kHostCopies) + " 2>/dev/null").code, 2);
}

}  // namespace
}  // namespace lanewise
