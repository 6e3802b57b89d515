#include "core/interop/machines/p2p_status.hpp"

#include "core/interop/machines/topo_m.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

SourceText text(std::string const& content) { return SourceText::from_memory("p2p.txt", content); }

TEST(P2pStatus, TablesAreReadWithWhatWasAsked) {
  auto const tables = read_p2p_tables(
      text("$ nvidia-smi topo -p2p r\n \tGPU0\tGPU1\t\n GPU0\tX\tCNS\t\n GPU1\tCNS\tX\t\n\nLegend:\n\n  X    = Self\n"
           "  OK   = Status Ok\n\n$ nvidia-smi topo -p2p n\n \tGPU0\tGPU1\t\n GPU0\tX\tOK\t\n GPU1\tOK\tX\t\n"));
  ASSERT_THAT(tables, SizeIs(2));
  EXPECT_EQ(tables[0].asked, P2pAsked::Read);
  EXPECT_TRUE(tables[0].said);
  EXPECT_EQ(tables[0].status[0][1], "CNS");
  EXPECT_EQ(tables[1].asked, P2pAsked::Nvlink);
  EXPECT_THAT(read_p2p_tables(text("GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\n")), SizeIs(0));
}

TEST(P2pStatus, IsHeldAgainstTheRules) {
  auto catalogue = bundled();
  auto const nvlink = catalogue.machine("hgx-h100");
  auto const all_ok = read_p2p_tables(text("topo -p2p r\nGPU0 GPU1\nGPU0 X OK\nGPU1 OK X\n"));
  EXPECT_THAT(p2p_differences(nvlink, all_ok.at(0)), SizeIs(0));
  auto const geforce = catalogue.machine("rtx4090-x2-workstation");
  auto const refused = p2p_differences(geforce, all_ok.at(0));
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_EQ(refused[0].subject, "gpu0 > gpu1");
  EXPECT_THAT(refused[0].text, HasSubstr("nvidia-smi says OK (allowed) for reads, rule "));
  auto const not_ok = read_p2p_tables(text("topo -p2p n\nGPU0 GPU1\nGPU0 X NS\nGPU1 NS X\n"));
  EXPECT_THAT(p2p_differences(geforce, not_ok.at(0)), SizeIs(0));
  EXPECT_THAT(p2p_differences(nvlink, not_ok.at(0)).at(0).text, HasSubstr("the machine has NVLink"));
}

TEST(P2pStatus, BesideATableOfDistancesItIsNoted) {
  auto catalogue = bundled();
  auto const machine = read_topo_m(
      text("GPU0 GPU1\nGPU0 X NV4\nGPU1 NV4 X\n\nLegend:\n\nnvidia-smi topo -p2p n\nGPU0 GPU1\nGPU0 X NS\nGPU1 NS X\n"),
      {}, catalogue);
  EXPECT_THAT(machine.notes,
              has_note("the table of 'topo -p2p' at line 8 (NVLink) differs from the rules for 1 pairs"));
}

}  // namespace
}  // namespace lanewise
