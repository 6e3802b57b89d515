// The command `lanewise import` from outside: what it writes, where, and what it leaves behind when it fails.
#include <sys/wait.h>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Outcome {
  int code = -1;
  std::string output;
};

constexpr auto* kFile =
    R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
  <pci busid="0000:18:00.0" class="0x030200" vendor="0x10de" device="0x20b5" link_speed="8 GT/s" link_width="16"/></cpu></system>)";
constexpr auto* kTable = "GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\n";

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

TEST_F(ImportCommand, JsonIsTheSameTree) {
  auto const json = run("import nccl " + write("node.xml", kFile) + " --json 2>/dev/null");
  EXPECT_EQ(nlohmann::json::parse(json.output).at("lanewise"), "machine/1");
}

TEST_F(ImportCommand, ReadsStandardInputAndWritesAFile) {
  auto const target = (folder_ / "out.yaml").string();
  auto const outcome =
      run("import topo-m - --gpu a100-pcie-80g -o " + target + " < " + write("topo.txt", kTable) + " 2>/dev/null");
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

}  // namespace
}  // namespace lanewise
