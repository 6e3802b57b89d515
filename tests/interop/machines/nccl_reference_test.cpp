// Reads topology files of real machines, if there is a folder of them beside the source tree.
#include <filesystem>

#include "core/interop/machines/nccl/topology.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> reference_files() {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto const& entry : fs::directory_iterator(LANEWISE_SOURCE_DIR "/../shared/reference/topologies", error))
    if (entry.path().extension() == ".xml") files.push_back(entry.path());
  return files;
}

TEST(NcclReference, EveryFileIsReadOrRefusedClearly) {
  auto const files = reference_files();
  if (files.empty()) GTEST_SKIP() << "no reference files beside the source tree";
  auto catalogue = bundled();
  for (auto const& file : files) {
    SCOPED_TRACE(file.filename());
    auto const source = SourceText::load(file);
    if (file.filename().string().find("hwloc") != std::string::npos) {
      EXPECT_THAT(error_of([&] { read_nccl_topology(source, catalogue); }), testing::HasSubstr("this is hwloc XML"));
      continue;
    }
    auto const machine = read_nccl_topology(source, catalogue);
    expect_reads_back(machine, catalogue);
    EXPECT_GE(machine.all(PciKind::Gpu).size(), 4U);
    EXPECT_FALSE(machine.notes.empty());
  }
}

}  // namespace
}  // namespace lanewise
