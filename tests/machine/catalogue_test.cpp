#include "lanewise/machine/catalogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/marked_errors.hpp"
#include "tests/support/server.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using test::input_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kGpuPart[] = "lanewise: part/1\npart: some-gpu\nkind: gpu\npci_ids: [\"10de:1234\"]\n";
constexpr char kCpuPart[] = "lanewise: part/1\npart: some-cpu\nkind: cpu\ncpuid: [\"GenuineIntel/6/85\"]\n";
constexpr char kMachine[] = "lanewise: machine/1\nmachine: box\nsockets: [{socket: cpu0}]\n";

TEST(Catalogue, ReadsAPartWhenItIsAskedFor) {
  test::TemporaryFolder const folder;
  (void)folder.with("parts/some-gpu.yaml", kGpuPart);
  (void)folder.with("parts/broken.yaml", "{");
  Catalogue catalogue({folder.path()});
  ASSERT_NE(catalogue.part("some-gpu"), nullptr);
  EXPECT_EQ(catalogue.part("some-gpu")->kind, PartKind::Gpu);
  EXPECT_EQ(catalogue.part("some-gpu"), catalogue.part("some-gpu"));  // read once
  EXPECT_EQ(catalogue.part("absent"), nullptr);
  EXPECT_THAT(input_error([&] { catalogue.part("broken"); }), HasSubstr("broken.yaml:"));
}

TEST(Catalogue, FindsPartsByWhatTheHardwareSays) {
  test::TemporaryFolder const folder;
  (void)folder.with("parts/some-gpu.yaml", kGpuPart);
  (void)folder.with("parts/some-cpu.yaml", kCpuPart);
  Catalogue catalogue({folder.path()});
  ASSERT_NE(catalogue.part_by_pci_id("10de:1234"), nullptr);
  EXPECT_EQ(catalogue.part_by_pci_id("10de:1234")->name, "some-gpu");
  EXPECT_EQ(catalogue.part_by_pci_id("10de:9999"), nullptr);
  ASSERT_NE(catalogue.part_by_cpuid("GenuineIntel/6/85"), nullptr);
  EXPECT_EQ(catalogue.part_by_cpuid("GenuineIntel/6/85")->name, "some-cpu");
}

TEST(Catalogue, AFileIsNamedAfterItsPart) {
  test::TemporaryFolder const folder;
  (void)folder.with("parts/other.yaml", kGpuPart);
  Catalogue catalogue({folder.path()});
  EXPECT_THAT(input_error([&] { catalogue.part("other"); }),
              HasSubstr("other.yaml:2:7: error: the part calls itself 'some-gpu', but its file is 'other.yaml'"));
}

TEST(Catalogue, EarlierFoldersWin) {
  test::TemporaryFolder const own;
  test::TemporaryFolder const bundled;
  (void)own.with("machines/box.yaml", std::string(kMachine) + "title: mine\n");
  (void)bundled.with("machines/box.yaml", kMachine);
  (void)bundled.with("machines/crate.yaml", kMachine);
  Catalogue catalogue({own.path(), bundled.path()});
  EXPECT_EQ(catalogue.machine("box").title, "mine");
  EXPECT_THAT(catalogue.machine_names(), ElementsAre("box", "crate"));
}

TEST(Catalogue, AMachineIsANameOrAFile) {
  test::TemporaryFolder const folder;
  auto const file = folder.with("elsewhere/mine.yaml", kMachine);
  Catalogue catalogue({folder.path()});
  EXPECT_EQ(catalogue.machine(file.string()).name, "box");
  EXPECT_THAT(input_error([&] { catalogue.machine("elsewhere/absent"); }),
              HasSubstr("elsewhere/absent: error: no such file"));
}

TEST(Catalogue, AnUnknownMachineSuggestsTheNearest) {
  test::TemporaryFolder const folder;
  (void)folder.with("machines/dgx-h100.yaml", kMachine);
  (void)folder.with("clusters/pod.yaml", "");
  Catalogue catalogue({folder.path()});
  EXPECT_EQ(
      input_error([&] { catalogue.machine("dgx-h10"); }),
      "no machine is called 'dgx-h10'; did you mean 'dgx-h100'? give a file, or a name of `lanewise list machines` or "
      "`lanewise list clusters`; with 'h10': dgx-h100");
}

TEST(Catalogue, ANameNeverLeavesTheFolder) {
  test::TemporaryFolder const folder;
  (void)folder.with("secret.yaml", kGpuPart);
  (void)folder.with("parts/some-gpu.yaml", kGpuPart);
  Catalogue catalogue({folder.path()});
  EXPECT_EQ(catalogue.part("../secret"), nullptr);
}

TEST(Catalogue, AnAddedFileIsKnownByItsNameBeforeTheFolders) {
  test::TemporaryFolder const folder;
  (void)folder.with("machines/box.yaml", kMachine);
  Catalogue catalogue({folder.path()});
  auto const other = std::string("lanewise: machine/1\nmachine: box\ntitle: mine\nsockets: [{socket: cpu0}]\n");
  catalogue.add(SourceText::from_memory("mine.yaml", other));
  EXPECT_EQ(catalogue.machine("box").title, "mine");
  EXPECT_EQ(catalogue.added_file("box"), "mine.yaml");
  EXPECT_EQ(catalogue.added_file("bax"), std::nullopt);
  EXPECT_THAT(input_error([&] { catalogue.machine("bax"); }), HasSubstr("did you mean 'box'?"));
  EXPECT_THAT(input_error([&] { catalogue.add(SourceText::from_memory("again.yaml", other)); }),
              HasSubstr("again.yaml: error: the name 'box' is already that of mine.yaml"));
}

TEST(Catalogue, AnAddedFileThatIsWrongIsNamedByWhoAsksForIt) {
  Catalogue catalogue({});
  auto const wrong = SourceText::from_memory("wrong.yaml", "lanewise: machine/1\nmachine: box\nsokets: []\n");
  EXPECT_THAT(input_error([&] { catalogue.add(wrong); }), HasSubstr("wrong.yaml:3:1: error:"));
  EXPECT_THAT(input_error([&] { catalogue.machine("box"); }), HasSubstr("'box' is described in wrong.yaml"));
}

TEST(Catalogue, TheSchemaWordDecidesAndNotAComment) {
  Catalogue none({});
  auto const text = std::string("# a node of our clusters, see cluster/1 in the handbook\n") + kMachine;
  EXPECT_EQ(none.machine_from(SourceText::from_memory("m.yaml", text)).name, "box");
  EXPECT_THAT(input_error([&] { none.machine_from(SourceText::from_memory("m.yaml", "a: b\n")); }),
              HasSubstr("must begin with 'lanewise: machine/1'"));
}

}  // namespace
}  // namespace lanewise
