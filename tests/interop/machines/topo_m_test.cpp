#include "core/interop/machines/topo_m.hpp"

#include <fmt/format.h>

#include <random>

#include "core/interop/machines/topo_comparison.hpp"
#include "core/interop/machines/topo_matrix.hpp"
#include "core/machine/path_class.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;

Machine imported(std::string const& text, TopoOptions const& options = {}) {
  auto catalogue = bundled();
  auto const machine =
      read_topo_m(SourceText::from_memory("topo.txt", without_terminal_codes(text)), options, catalogue);
  expect_reads_back(machine, catalogue);
  return machine;
}

std::string error_in(std::string const& text, TopoOptions const& options = {}) {
  return error_of([&] { imported(text, options); });
}

PathClass path(Machine const& machine, std::string const& a, std::string const& b) {
  return path_class(machine, id_of(machine, a), id_of(machine, b));
}

TEST(TopoM, GroupsBecomeSwitchesHostBridgesAndSockets) {
  auto const machine = imported(
      "\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
      "GPU0\t X \tPIX\tPXB\tPHB\tNODE\tSYS\t0-15,32-47\t0\t\tN/A\n"
      "GPU1\tPIX\t X \tPXB\tPHB\tNODE\tSYS\t0-15,32-47\t0\t\tN/A\n"
      "GPU2\tPXB\tPXB\t X \tPHB\tNODE\tSYS\t0-15,32-47\t0\t\tN/A\n"
      "GPU3\tPHB\tPHB\tPHB\t X \tNODE\tSYS\t0-15,32-47\t0\t\tN/A\n"
      "GPU4\tNODE\tNODE\tNODE\tNODE\t X \tSYS\t0-15,32-47\t0\t\tN/A\n"
      "NIC0\tSYS\tSYS\tSYS\tSYS\tSYS\t X \t\t\t\t\n"
      "\nLegend:\n\n  X    = Self\n\nNIC Legend:\n\n  NIC0: mlx5_4\n\n");
  EXPECT_EQ(path(machine, "gpu0", "gpu1"), PathClass::Pix);
  EXPECT_EQ(path(machine, "gpu0", "gpu2"), PathClass::Pxb);
  EXPECT_EQ(path(machine, "gpu2", "gpu3"), PathClass::Phb);
  EXPECT_EQ(path(machine, "gpu3", "gpu4"), PathClass::Node);
  EXPECT_EQ(path(machine, "gpu4", "nic0"), PathClass::Sys);
  EXPECT_EQ(function(machine, "nic0").device_name, "mlx5_4");
  EXPECT_EQ(machine.at(NumaId{0}).cores, "0-15,32-47");
  EXPECT_EQ(machine.sockets.size(), 2U);
  EXPECT_EQ(part_of(machine, "gpu0"), "gpu-generic");
  for (auto const* option : {"--gpu", "--cpu", "--nic", "--switch"})
    EXPECT_THAT(machine.notes, has_note(std::string("whose product the table does not say; ") + option));
}

// A table does not say how wide links are, so ten devices of x16 on one CPU of 128 lanes are no error (found by
// fuzzing).
TEST(TopoM, LinksThatATableDoesNotSayTakeNoLanes) {
  std::string header;
  std::string rows;
  for (int i = 0; i < 10; ++i) {
    header += fmt::format("\tGPU{}", i);
    rows += fmt::format("GPU{}", i);
    for (int k = 0; k < 10; ++k) rows += i == k ? "\t X " : "\tNODE";
    rows += "\t0-31\t0\n";
  }
  auto const machine = imported(header + "\tCPU Affinity\tNUMA Affinity\n" + rows,
                                {.gpu = "a100-pcie-80g", .cpu = "epyc-zen3", .nic = "connectx-6-hdr"});
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 10U);
}

TEST(TopoM, TerminalCodesOldColumnsAndAPromptAreRead) {
  auto const machine = imported(
      "$ nvidia-smi topo -m\n"
      "\x1b[4m\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\x1b[0m\n"
      "GPU0\t X \tSOC\tPIX\t0-11\n"
      "GPU1\tSOC\t X \tSOC\t12-23\n"
      "mlx5_0\tPIX\tSOC\t X \t\n");
  EXPECT_EQ(function(machine, "nic0").device_name, "mlx5_0");
  EXPECT_EQ(path(machine, "gpu0", "nic0"), PathClass::Pix);
  EXPECT_EQ(path(machine, "gpu0", "gpu1"), PathClass::Sys);
  EXPECT_EQ(machine.at(NumaId{1}).cores, "12-23");
}

TEST(TopoM, NicsPlaceGpusWhoseDistanceNvlinkHides) {
  auto const machine = imported(
      "      GPU0  GPU1  NIC0  NIC1  CPU Affinity  NUMA Affinity\n"
      "GPU0   X    NV4   PIX   SYS   0-15          0\n"
      "GPU1  NV4    X    PIX   SYS   0-15          0\n"
      "NIC0  PIX   PIX    X    SYS\n"
      "NIC1  SYS   SYS   SYS    X\n");
  EXPECT_EQ(path(machine, "gpu0", "gpu1"), PathClass::Pix);
  EXPECT_EQ(nvlink_count(machine, id_of(machine, "gpu0"), id_of(machine, "gpu1")), 4);
  EXPECT_EQ(machine.nvlinks.size(), 1U);
  EXPECT_EQ(machine.at(machine.nvlinks[0].part).name, "nvlink-generic");
}

TEST(TopoM, AffinityPlacesGpusThatNothingElsePlaces) {
  auto const machine = imported(
      "      GPU0  GPU1  GPU2  CPU Affinity  NUMA Affinity\n"
      "GPU0   X    NV2   NV1   0-15          0\n"
      "GPU1  NV2    X    NV1   16-31         1\n"
      "GPU2  NV1   NV1    X    0-15          0\n");
  EXPECT_EQ(path(machine, "gpu0", "gpu2"), PathClass::Node);
  EXPECT_EQ(path(machine, "gpu0", "gpu1"), PathClass::Sys);
  EXPECT_EQ(machine.nvlinks.size(), 3U);
  EXPECT_THAT(machine.notes, has_note("in place of the PCIe distance of gpu0, gpu1, gpu2"));
}

TEST(TopoM, AllPairsWithEveryLinkAreAnNvswitch) {
  std::string const text =
      "GPU0 GPU1 GPU2 CPU Affinity\n"
      "GPU0 X NV12 NV12 0-15\nGPU1 NV12 X NV12 0-15\nGPU2 NV12 NV12 X 0-15\n";
  auto const unnamed = imported(text);
  ASSERT_EQ(unnamed.nvswitches.size(), 1U);
  EXPECT_EQ(unnamed.at(unnamed.nvswitches[0].part).name, "nvswitch-unknown");
  auto const named = imported(text, {.gpu = "a100-sxm4-80g", .cpu = "epyc-zen3", .nic = ""});
  EXPECT_EQ(named.at(named.nvswitches.at(0).part).name, "nvswitch-2");
  EXPECT_EQ(part_of(named, "gpu2"), "a100-sxm4-80g");
  EXPECT_EQ(named.part_of(SocketId{0})->name, "epyc-zen3");
  EXPECT_THAT(named.notes, has_note("inferred: NVSwitches"));
}

TEST(TopoM, BridgesBetweenPairsAreBundles) {
  auto const machine = imported(
      "GPU0 GPU1 GPU2 GPU3\n"
      "GPU0 X NV12 NODE NODE\nGPU1 NV12 X NODE NODE\nGPU2 NODE NODE X NV12\nGPU3 NODE NODE NV12 X\n",
      {.gpu = "a100-pcie-80g", .cpu = "", .nic = ""});
  EXPECT_TRUE(machine.nvswitches.empty());
  ASSERT_EQ(machine.nvlinks.size(), 2U);
  EXPECT_EQ(machine.at(machine.nvlinks[0].part).name, "nvlink-3");
}

TEST(TopoM, FourLinksBetweenFourGpusAreDirect) {
  auto const machine =
      imported("GPU0 GPU1 GPU2 GPU3\nGPU0 X NV4 NV4 NV4\nGPU1 NV4 X NV4 NV4\nGPU2 NV4 NV4 X NV4\nGPU3 NV4 NV4 NV4 X\n");
  EXPECT_TRUE(machine.nvswitches.empty());
  EXPECT_EQ(machine.nvlinks.size(), 6U);
}

TEST(TopoM, ADegradedGpuOfAnNvswitchHasFewerLinks) {
  auto const machine = imported(
      "GPU0 GPU1 GPU2 GPU3\nGPU0 X NV18 NV16 NV18\nGPU1 NV18 X NV16 NV18\nGPU2 NV16 NV16 X NV16\nGPU3 NV18 NV18 NV16 "
      "X\n",
      {.gpu = "h100-sxm5-80g"});
  ASSERT_EQ(machine.nvswitches.size(), 1U);
  EXPECT_EQ(nvlink_count(machine, id_of(machine, "gpu0"), id_of(machine, "gpu2")), 16);
  EXPECT_EQ(nvlink_count(machine, id_of(machine, "gpu0"), id_of(machine, "gpu3")), 18);
}

TEST(TopoM, NumaNodesOfOneSocket) {
  auto const machine = imported(
      "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\tX\tSYS\tSYS\tSYS\t48-63\t3\nGPU1\tSYS\tX\tSYS\tSYS\t16-31\t1\n"
      "GPU2\tSYS\tSYS\tX\tSYS\t112-127\t7\nGPU3\tSYS\tSYS\tSYS\tX\t80-95\t5\n");
  EXPECT_EQ(machine.sockets.size(), 2U);
  EXPECT_EQ(machine.numa_nodes.size(), 4U);
  EXPECT_EQ(machine.socket_of(id_of(machine, "gpu0")), machine.socket_of(id_of(machine, "gpu1")));
  EXPECT_NE(machine.socket_of(id_of(machine, "gpu0")), machine.socket_of(id_of(machine, "gpu2")));
  EXPECT_EQ(path(machine, "gpu0", "gpu1"), PathClass::Sys);
  EXPECT_THAT(machine.notes, has_note("inferred: 4 NUMA nodes a socket"));
}

TEST(TopoM, GpusKeepTheirNumbersAndTheNumaNodeOfTheirMemory) {
  auto const machine = imported(
      "\tGPU4\tGPU6\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
      "GPU4\t X \tNODE\t0-71\t0\t\t4\nGPU6\tNODE\t X \t0-71\t0\t\t12\n");
  EXPECT_EQ(function(machine, "gpu4").memory_numa, 4);
  EXPECT_EQ(function(machine, "gpu6").memory_numa, 12);
}

TEST(TopoM, SocketsOfAnExactCpuAreLinkedAsThoseOfItsFamily) {
  std::string const text = "GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0 X SYS 0-95 0\nGPU1 SYS X 96-191 1\n";
  auto const link = [&](std::string const& cpu) {
    auto const machine = imported(text, {.gpu = "l40s", .cpu = cpu});
    return machine.at(machine.socket_links.at(0).part).name;
  };
  EXPECT_EQ(link("epyc-9654"), link("epyc-zen4"));
  EXPECT_EQ(link("xeon-platinum-8480c"), link("xeon-sapphire-rapids"));
  EXPECT_EQ(link("epyc-zen1"), "socket-link-generic");  // no part has its links
}

// ------------------------------------------------------------------------------------------- tables as people keep
// them

// One table in many dresses.
TEST(TopoMText, DressesOfOneTable) {
  std::vector<std::string> const texts{
      "|      | GPU0 | GPU1 | NIC0 | CPU Affinity | NUMA Affinity |\n|------|:--|---|---|---|---|\n"
      "| GPU0 | X | NV4 | PIX | 0-15 | 0 |\n| GPU1 | NV4 | X | SYS | 16-31 | 1 |\n| NIC0 | PIX | SYS | X | | |\n",
      "| **From/To** | `GPU0` | `GPU1` | `NIC0` | CPU Affinity | NUMA |\n|---|---|---|---|---|---|\n"
      "| **GPU0** | X | NV4 | PIX | 0-15 | 0 |\n| **GPU1** | NV4 | X | SYS | 16-31 | 1 |\n| **NIC0** | PIX | SYS | X | "
      " |  |\n",
      "&nbsp;&nbsp;GPU0&nbsp;GPU1&nbsp;NIC0&nbsp;CPU Affinity NUMA Affinity<br>\nGPU0 X NV4 PIX 0-15 0<br>\n"
      "GPU1 NV4 X SYS 16-31 1<br>\nNIC0 PIX SYS X<br>\n",
      "<tr><th></th><th>GPU0</th><th>GPU1</th><th>NIC0</th><th>CPU Affinity</th><th>NUMA Affinity</th></tr>\n"
      "<tr><td>GPU0</td><td>X</td><td>NV4</td><td>PIX</td><td>0-15</td><td>0</td></tr>\n"
      "<tr><td>GPU1</td><td>NV4</td><td>X</td><td>SYS</td><td>16-31</td><td>1</td></tr>\n"
      "<tr><td>NIC0</td><td>PIX</td><td>SYS</td><td>X</td><td></td><td></td></tr>\n",
      "[4mGPU0 GPU1 NIC0 CPU Affinity NUMA Affinity[0m\nGPU0 X NV4 PIX 0-15 0\nGPU1 NV4 X SYS 16-31 1\nNIC0 PIX SYS "
      "X\n",
      "    \"\\u001b[4m\\tGPU0\\tGPU1\\tNIC0\\tCPU Affinity\\tNUMA Affinity\\u001b[0m\\n\",\n"
      "    \"GPU0\\t X \\tNV4\\tPIX\\t0-15\\t0\\n\",\n    \"GPU1\\tNV4\\t X \\tSYS\\t16-31\\t1\\n\",\n"
      "    \"NIC0\\tPIX\\tSYS\\t X \\t\\t\\n\",\n",
      "> > GPU0 GPU1 NIC0 CPU Affinity NUMA Affinity\n> > GPU0 X NV4 PIX 0-15 0\n> > GPU1 NV4 X SYS 16-31 1\n> > NIC0 "
      "PIX SYS X\n",
      "12:01:02 node7 GPU0 GPU1 NIC0 CPU Affinity NUMA Affinity\n12:01:02 node7 GPU0 X NV4 PIX 0-15 0\n"
      "12:01:02 node7 GPU1 NV4 X SYS 16-31 1\n12:01:02 node7 NIC0 PIX SYS X\n",
      "GPU0 GPU1 NIC0\nGPU0 X NV4 PIX NUMA 0\nGPU1 NV4 X SYS NUMA 1\nNIC0 PIX SYS X\n",
      ",GPU0,GPU1,NIC0,CPU Affinity,NUMA Affinity\nGPU0,X,NV4,PIX,0-15,0\nGPU1,NV4,X,SYS,16-31,1\nNIC0,PIX,SYS,X,,\n",
      "GPU 0 GPU 1 NIC 0\nGPU 0 X NV4 PIX\nGPU 1 NV4 X SYS\nNIC 0 PIX SYS X\n",
      "GPU0 GPU1\nNIC0 CPU Affinity NUMA Affinity\nGPU0 X NV4\nPIX 0-15 0\nGPU1 NV4 X\nSYS 16-31 1\nNIC0 PIX SYS\nX\n"};
  for (auto const& text : texts) {
    SCOPED_TRACE(text);
    auto const machine = imported(text);
    ASSERT_TRUE(machine.find_function("gpu1").has_value() && machine.find_function("nic0").has_value());
    EXPECT_EQ(path(machine, "gpu0", "nic0"), PathClass::Pix);
    EXPECT_EQ(path(machine, "gpu1", "nic0"), PathClass::Sys);
    EXPECT_EQ(nvlink_count(machine, id_of(machine, "gpu0"), id_of(machine, "gpu1")), 4);
    EXPECT_EQ(machine.at(machine.numa_of(id_of(machine, "gpu1"))).os_index, 1);
  }
}

TEST(TopoMText, LostBlanks) {
  auto const machine = imported(
      "GPU0GPU1GPU2CPU AffinityNUMA AffinityGPU NUMA "
      "ID\nGPU0XNODESYS0-310N/A\nGPU1NODEXSYS0-310N/A\nGPU2SYSSYSX32-631N/A\n");
  EXPECT_EQ(path(machine, "gpu0", "gpu1"), PathClass::Node);
  EXPECT_EQ(path(machine, "gpu1", "gpu2"), PathClass::Sys);
}

TEST(TopoMText, NicsWithoutALegendKeepTheirNumbers) {
  auto const matrix = read_topo_matrix(
      SourceText::from_memory("t", "GPU0 NIC0 NIC3\nGPU0 X PIX SYS\nNIC0 PIX X SYS\nNIC3 SYS SYS X\n"));
  auto catalogue = bundled();
  auto const machine = read_topo_m(
      SourceText::from_memory("t", "GPU0 NIC0 NIC3\nGPU0 X PIX SYS\nNIC0 PIX X SYS\nNIC3 SYS SYS X\n"), {}, catalogue);
  EXPECT_EQ(function(machine, "nic3").kind, PciKind::Nic);
  EXPECT_TRUE(topo_differences(machine, matrix).empty());
}

TEST(TopoMText, ACutTableIsReadAndTheCutIsNamed) {
  auto const machine = imported(
      "GPU0 GPU1 GPU2 NIC0 CPU Affinity NUMA Affinity\nGPU0 X NV12 NV12 PIX 0-15 0\nGPU1 NV12 X NV12 ...\n...\n");
  EXPECT_EQ(nvlink_count(machine, id_of(machine, "gpu1"), id_of(machine, "gpu2")), 12);
  EXPECT_EQ(path(machine, "gpu0", "nic0"), PathClass::Pix);
  EXPECT_THAT(machine.notes, has_note("the table is cut: it has no row of GPU2, NIC0"));
  EXPECT_THAT(machine.notes, has_note("so their distance is inferred: GPU1 to NIC0, GPU2 to NIC0"));
}

TEST(TopoMText, WhatIsLeftOutOfEveryRowIsLeftOut) {
  auto const machine =
      imported("GPU0 GPU1 ... GPU7\nGPU0 X NV18 ... NV18\nGPU1 NV18 X ... NV18\nGPU7 NV18 NV18 ... X\n");
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 3U);
  EXPECT_EQ(nvlink_count(machine, id_of(machine, "gpu0"), id_of(machine, "gpu7")), 18);
  EXPECT_THAT(machine.notes, has_note("the columns ... are left out"));
}

TEST(TopoMText, AnOddCellCostsItself) {
  auto const noted = [](std::string const& text, std::string const& note) {
    SCOPED_TRACE(text);
    auto const machine = imported(text);
    EXPECT_THAT(machine.notes, has_note(note));
    return machine;
  };
  auto const near = noted("GPU0 GPU1\nGPU0 X NEAR\nGPU1 PIX X\n", "'NEAR' of GPU0 and GPU1 (line 2, column 8)");
  EXPECT_EQ(path(near, "gpu0", "gpu1"), PathClass::Pix);
  noted("GPU0 GPU1 GPU2\nGPU0 X NV0 PIX\nGPU1 NV0 X PIX\nGPU2 PIX PIX X\n", "'NV0'");
  noted("GPU0 NIC0\nGPU0 X NV2\nNIC0 PIX X\n", "'NV2' of GPU0 and NIC0");
  noted("GPU0 GPU1\nGPU0 X PIX\nGPU1 PHB X\n",
        "the two directions differ, the first is taken: GPU0 to GPU1 (lines 2 and 3)");
  noted("GPU0 GPU1 GPU2\nGPU0 X PIX SYS\nGPU1 PIX X SYS\nGPU2 SYS X SYS\n", "the row 'GPU2' is shifted");
}

TEST(TopoMText, DistancesThatNoTreeHasAreNoted) {
  auto const machine = imported("GPU0 GPU1 GPU2\nGPU0 X PIX SYS\nGPU1 PIX X PIX\nGPU2 SYS PIX X\n");
  EXPECT_THAT(machine.notes,
              has_note("GPU0 and GPU2 cannot be SYS (line 2): GPU0 and GPU1 are PIX, GPU1 and GPU2 are PIX"));
  EXPECT_EQ(path(machine, "gpu0", "gpu2"), PathClass::Pix);
}

// -------------------------------------------------------------------------------------------------------------- errors

TEST(TopoMErrors, NoTableOrATableThatCannotBe) {
  EXPECT_THAT(error_in("no GPU here\n"), HasSubstr("topo.txt: error: no table of 'nvidia-smi topo -m'"));
  EXPECT_THAT(error_in("GPU0 -> GPU1 -> GPU2\n  GPU0 sends to GPU1\n"), HasSubstr("no table"));
  EXPECT_THAT(error_in("GPU0 GPU0\nGPU0 X PIX\n"), HasSubstr("1:6: error: the column 'GPU0' stands twice"));
  std::string header = "\t";
  for (int i = 0; i < 100'000; ++i) header += fmt::format("GPU{}\t", i);
  EXPECT_THAT(error_in(header + "\nGPU0 X PIX\n"), HasSubstr("100000 columns; at most 256 are read"));
  EXPECT_THAT(error_in("GPU0 GPU1\nGPU0 X OK\nGPU1 OK X\n"), HasSubstr("this is a table of 'nvidia-smi topo -p2p'"));
}

TEST(TopoMErrors, PartsThatAreUnknownOrDoNotFit) {
  std::string const text = "GPU0 GPU1\nGPU0 X NV14\nGPU1 NV14 X\n";
  EXPECT_THAT(error_in(text, {.gpu = "a100-pcie-81g", .cpu = "", .nic = ""}),
              HasSubstr("no part is called 'a100-pcie-81g'; did you mean 'a100-pcie-80g'?"));
  EXPECT_THAT(error_in(text, {.gpu = "epyc-zen3", .cpu = "", .nic = ""}),
              HasSubstr("the part 'epyc-zen3' is a cpu, but a gpu is needed"));
  EXPECT_THAT(error_in(text, {.gpu = "a100-pcie-80g", .cpu = "", .nic = ""}),
              HasSubstr("GPU0 has 14 NVLinks, but 'a100-pcie-80g' has 12 ports"));
}

// ---------------------------------------------------------------------------------------------------------- properties

// Where a device sits: NUMA node, host bridge, root port, switch; each number counts within the one before.
using Seat = std::array<int, 4>;

std::string_view word_between(Seat const& a, Seat const& b) {
  if (a[0] != b[0]) return "SYS";
  if (a[1] != b[1]) return "NODE";
  if (a[2] != b[2]) return "PHB";
  return a[3] != b[3] ? "PXB" : "PIX";
}

struct Table {
  std::vector<std::string> names;  // as the machine has them
  std::vector<std::vector<std::string>> cells;
  std::string text;
};

// The table of a random machine; some pairs of GPUs have NVLink, which hides how they are seated.
Table random_table(std::mt19937& random) {
  auto const below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  auto const gpus = 1 + below(8);
  auto const all = gpus + below(5);
  std::vector<Seat> seats;
  for (int i = 0; i < all; ++i) seats.push_back({below(3), below(2), below(2), below(2)});
  bool const affinity = below(2) == 0;
  auto const nvlink_share = below(4);
  Table table;
  for (int i = 0; i < all; ++i)
    table.names.push_back(i < gpus ? fmt::format("gpu{}", i) : fmt::format("nic{}", i - gpus));
  table.cells.assign(static_cast<std::size_t>(all), std::vector<std::string>(static_cast<std::size_t>(all), "X"));
  for (std::size_t a = 0; a < seats.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      bool const nvlink = static_cast<int>(a) < gpus && below(4) < nvlink_share;
      table.cells[a][b] = table.cells[b][a] =
          nvlink ? fmt::format("NV{}", 1 + below(4)) : std::string(word_between(seats[a], seats[b]));
    }
  for (int i = 0; i < all; ++i) table.text += i < gpus ? fmt::format("\tGPU{}", i) : fmt::format("\tNIC{}", i - gpus);
  table.text += affinity ? "\tCPU Affinity\tNUMA Affinity\n" : "\n";
  for (std::size_t i = 0; i < seats.size(); ++i) {
    bool const gpu = static_cast<int>(i) < gpus;
    table.text += gpu ? fmt::format("GPU{}", i) : fmt::format("NIC{}", static_cast<int>(i) - gpus);
    for (auto const& cell : table.cells[i]) table.text += "\t" + cell;
    table.text += affinity && gpu ? fmt::format("\t0-{}\t{}\n", seats[i][0], seats[i][0]) : "\n";
  }
  return table;
}

TEST(TopoMProperty, TheMachineHasTheSameTable) {
  std::mt19937 random(20260711);
  auto catalogue = bundled();
  for (int round = 0; round < 500; ++round) {
    auto const table = random_table(random);
    SCOPED_TRACE(table.text);
    auto const machine = read_topo_m(SourceText::from_memory("topo.txt", table.text), {}, catalogue);
    expect_reads_back(machine, catalogue);
    for (std::size_t a = 0; a < table.names.size(); ++a)
      for (std::size_t b = 0; b < table.names.size(); ++b) {
        auto const links = nvlink_count(machine, id_of(machine, table.names[a]), id_of(machine, table.names[b]));
        auto const found = links > 0 && a != b ? fmt::format("NV{}", links)
                                               : std::string(to_string(path(machine, table.names[a], table.names[b])));
        ASSERT_EQ(found, table.cells[a][b]) << table.names[a] << " " << table.names[b] << "\n"
                                            << write_machine(machine);
      }
  }
}

}  // namespace
}  // namespace lanewise
