#include "core/view/machine/words.hpp"

#include <gtest/gtest.h>

#include "tests/view/samples.hpp"

namespace lanewise {
namespace {

PciId id_of(Machine const& machine, std::string_view name) { return *machine.find_function(name); }

TEST(Words, RunsOfNamesBecomeRanges) {
  EXPECT_EQ(condensed({}), "");
  EXPECT_EQ(condensed({"gpu0"}), "gpu0");
  EXPECT_EQ(condensed({"gpu0", "gpu1"}), "gpu0, gpu1");
  EXPECT_EQ(condensed({"gpu0", "gpu1", "gpu2", "gpu4"}), "gpu0..gpu2, gpu4");
  EXPECT_EQ(condensed({"gpu9", "gpu10", "gpu11", "nic12"}), "gpu9..gpu11, nic12");
  EXPECT_EQ(condensed({"gpu08", "gpu09", "gpu10"}), "gpu08, gpu09, gpu10");  // a range would not give these back
  EXPECT_EQ(condensed({"gpu", "a99999999999", ""}), "gpu, a99999999999, ");
}

TEST(Words, LongTextsBreakAtBlanks) {
  EXPECT_EQ(wrapped("", 8), "");
  EXPECT_EQ(wrapped("one two three", 8), "one two\nthree");
  EXPECT_EQ(wrapped("a incomprehensibilities b", 8), "a\nincomprehensibilities\nb");
}

TEST(Words, ALinkSaysWhatIsStatedAndWhatIsAssumed) {
  auto const machine = test::two_switch();
  EXPECT_EQ(link_words(machine, id_of(machine, "rp0")), "");
  EXPECT_EQ(link_words(machine, id_of(machine, "gpu0")), "gen4 x16");
  EXPECT_EQ(link_words(machine, id_of(machine, "gpu1")), "gen3 x8 (max gen4 x16)");
  EXPECT_EQ(link_words(machine, id_of(machine, "nvme0")), "(assumed gen4 x4)");  // the drive is narrower than the port
  EXPECT_EQ(link_words(machine, id_of(machine, "nvme1")), "unknown");
}

TEST(Words, ARootPortLimitsTheAssumedGenerationButNotTheWidth) {
  auto machine = test::two_switch();
  machine.parts[index(*machine.sockets[0].part)].cpu.root_port_generation = 3;
  machine.functions[index(id_of(machine, "sw0"))].link.reset();
  EXPECT_EQ(link_words(machine, id_of(machine, "sw0")), "(assumed gen3 x16)");
}

TEST(Words, SettingsInOneLine) {
  Settings settings;
  EXPECT_EQ(settings_words(settings), "ACS unknown; IOMMU unknown; virtualization none");
  settings.acs = AcsControl::on();
  settings.iommu = IommuMode::Lazy;
  settings.iommu_page = Bytes(2 << 20);
  settings.virtualization = {
      .passthrough = true, .hypervisor = "kvm", .approval = true, .cliques = {{"gpu0", "gpu1"}}, .ats = true};
  EXPECT_EQ(settings_words(settings),
            "ACS on; IOMMU lazy with 2 MiB pages; virtualization passthrough (kvm; peer-to-peer approved; ATS; clique "
            "gpu0, gpu1)");
}

}  // namespace
}  // namespace lanewise
