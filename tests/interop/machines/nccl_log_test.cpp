#include "core/interop/machines/nccl/log/nccl_log.hpp"

#include "core/interop/formats/formats.hpp"
#include "core/interop/machines/nccl/log/log_lines.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;

Machine machine_from_log(std::string const& text, TopoOptions const& parts = {}) {
  auto catalogue = bundled();
  auto machine = read_nccl_log(SourceText::from_memory("node.log", text), parts, catalogue);
  expect_reads_back(machine, catalogue);
  return machine;
}

// Two GPUs behind one switch with an adapter, joined by NVSwitch, as one process of two prints them.
std::string tree(std::string const& prefix) {
  std::string text;
  for (auto const* line :
       {"=== System : maxBw 240.0 totalBw 240.0 ===", "CPU/0 (1/2/-1)", "+ PCI[24.0] - PCI/40000 (1000c01010000000)",
        "              + PCI[24.0] - GPU/47000 (0)", "                            + NVL[240.0] - NVS/0",
        "              + PCI[12.0] - GPU/4B000 (1)", "                            + NVL[240.0] - NVS/0",
        "              + PCI[24.0] - NIC/43000",
        "                            + NET[25.0] - NET/1 (7a852d0003f6ceb8/1/25.000000)", "+ SYS[10.0] - CPU/1",
        "CPU/1 (1/2/-1)", "+ SYS[10.0] - CPU/0",
        "==========================================", "GPU/47000 :GPU/47000 (0/5000.0/LOC) GPU/4B000 (2/240.0/NVL)"})
    text += prefix + line + "\n";
  return text;
}
std::string info(std::string const& prefix) {
  return prefix + "NET/IB : Using [0]mlx5_3:1/IB [1]mlx5_0:1/IB [RO]; OOB eth0:10.1.1.1<0>\n" + prefix +
         "comm 0x55d0c0 rank 1 nranks 16 cudaDev 1 nvmlDev 0 busId 4b000 commId 0x9a - Init START\n" + prefix +
         "comm 0x55d0c1 rank 0 nranks 16 cudaDev 0 nvmlDev 1 busId 47000 commId 0x9a - Init START\n" + prefix +
         "Channel 00/24 :    0   1   2   3\n" + prefix + "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/1/GDRDMA\n" +
         prefix + "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n";
}

TEST(NcclLog, TheTreeOfOneHost) {
  std::string const prefix = "hostA:12345:12399 [0] NCCL INFO ";
  auto const machine =
      machine_from_log("hostA:12345:12345 [0] NCCL INFO NCCL version 2.19.3+cuda12.2\n" + info(prefix) + tree(prefix));
  EXPECT_EQ(machine.sockets.size(), 2U);
  EXPECT_EQ(function(machine, "sw0").bdf, "0000:40:00.0");
  EXPECT_EQ(function(machine, "gpu0").bdf, "0000:4b:00.0") << "numbered as NVML numbers them";
  EXPECT_EQ(function(machine, "gpu0").link, (PcieLink{3, 16}));
  EXPECT_EQ(function(machine, "gpu1").link, (PcieLink{4, 16}));
  EXPECT_EQ(parent_of(machine, "gpu1"), "sw0");
  EXPECT_EQ(function(machine, "nic0").device_name, "mlx5_0");
  ASSERT_EQ(machine.nvswitches.size(), 1U);
  EXPECT_EQ(machine.nvswitches[0].ports[0].count, 12);
  EXPECT_THAT(machine.notes, has_note("NCCL 2.19.3+cuda12.2, 16 ranks, 24 channels"));
  EXPECT_THAT(machine.notes, has_note("GPU 0 by NET/IB/1 with GPUDirect RDMA"));
  EXPECT_THAT(machine.notes, has_note("P2P/CUMEM"));
  EXPECT_TRUE(machine.hosts[0].software.peermem);
}

// Found by fuzzing: three GPUs of x16 on a CPU of 40 lanes.
TEST(NcclLog, MoreLinksThanTheCpuHasLanesAreAContradiction) {
  std::string text = "a:1:2 [0] NCCL INFO === System : maxBw 24.0 totalBw 24.0 ===\n";
  for (auto const* line : {"CPU/0 (1/1/1)", "+ PCI[24.0] - GPU/1000 (0)", "+ PCI[24.0] - GPU/2000 (1)",
                           "+ PCI[24.0] - GPU/3000 (2)", "=========================================="})
    text += std::string("a:1:2 [0] NCCL INFO ") + line + "\n";
  auto const machine = machine_from_log(text, {.cpu = "xeon-broadwell"});
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 3U);
  EXPECT_THAT(machine.notes, has_note("contradiction: cpu0 has 40 PCIe lanes (xeon-broadwell), and its links take 48"));
}

TEST(NcclLog, LinesOfProcessesBetweenEachOther) {
  auto const one = tree("[1,0]<stdout>:a:1:11 [0] NCCL INFO ");
  auto const two = tree("[1,1]<stdout>:a:2:12 [1] NCCL INFO ");
  std::string mixed;
  for (std::size_t i = 0, j = 0; i < one.size() && j < two.size();) {
    auto const end = one.find('\n', i) + 1;
    mixed += one.substr(i, end - i);
    i = end;
    auto const other = two.find('\n', j) + 1;
    mixed += two.substr(j, other - j);
    j = other;
  }
  EXPECT_EQ(machine_from_log(mixed).all(PciKind::Gpu).size(), 2U);
}

TEST(NcclLog, NewerNumbersWithSystemAndHost) {
  auto const line = parse_nccl_tree_line("              + PCI[48.0] - GPU/0-0-68000 (8)");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->id, "68000");
  EXPECT_EQ(line->column, 14U);
  EXPECT_EQ(line->bandwidth, 48);
  EXPECT_EQ(bus_id_of_nccl("68000"), "0000:68:00.0");
  EXPECT_EQ(bus_id_of_nccl("100011a1"), "0100:01:1a.1") << "domain, bus, device, function";
  EXPECT_EQ(bus_id_of_nccl("100017a1"), "") << "no device has the number 0x7a";
  EXPECT_FALSE(parse_nccl_tree_line("CPU/0 :GPU/47000 (1/24.0/PHB)"));
}

TEST(NcclLog, WithoutATreeTheGpusThatLinesName) {
  auto const machine = machine_from_log(info("n1:7:8 [0] NCCL INFO "));
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 2U);
  EXPECT_EQ(machine.all(PciKind::Nic).size(), 2U);
  EXPECT_THAT(machine.notes, has_note("NCCL_DEBUG_SUBSYS=INIT,GRAPH"));
  auto const older = machine_from_log("n1:7:8 [0] NCCL INFO Channel 00 : 0[3b000] -> 1[5e000] via P2P/IPC\n");
  EXPECT_EQ(older.all(PciKind::Gpu).size(), 2U);
  EXPECT_EQ(function(older, "gpu1").bdf, "0000:5e:00.0");
  auto const numbers = machine_from_log("NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct\n");
  EXPECT_EQ(numbers.all(PciKind::Gpu).size(), 2U);
  EXPECT_EQ(function(numbers, "gpu1").bdf, "");
}

TEST(NcclLog, TheHostAboutWhichItSaysMost) {
  auto const machine =
      machine_from_log("b:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.2<0>\n" + tree("a:1:1 [0] NCCL INFO "));
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 2U);
  EXPECT_THAT(machine.notes, has_note("lines of 2 hosts"));
}

TEST(NcclLog, APasteWithoutIndentation) {
  auto text = tree("NCCL INFO ");
  for (auto at = text.find("  +"); at != std::string::npos; at = text.find("  +")) text.erase(at, 1);
  for (auto at = text.find(" +"); at != std::string::npos; at = text.find("O  +")) {
    if (text.compare(at, 3, "O  ") != 0) break;
    text.erase(at + 1, 1);
  }
  auto const machine = machine_from_log(text);
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 2U);
  EXPECT_EQ(machine.nvswitches.size(), 1U);
}

TEST(NcclLog, ACpuWithoutAUsualNumberGetsAFreeOne) {
  auto const machine = machine_from_log("NCCL INFO CPU/0 (1/2/-1)\nNCCL INFO CPU/FFFFFFFF (1/2/-1)\n");
  ASSERT_EQ(machine.numa_nodes.size(), 2U);
  EXPECT_EQ(machine.numa_nodes[1].name, "numa1");
  EXPECT_THAT(machine.notes, has_note("NUMA node 0 stands twice; the second is taken for node 1"));
}

TEST(NcclLog, WhatComesBeforeTheFirstCpuIsOfOneWhoseLineIsCut) {
  auto const machine = machine_from_log(
      "NCCL INFO               + NET[25.0] - NET/8 (72739d/1/25.000000)\n"
      "NCCL INFO + PCI[48.0] - PCI/36000 (1000c0301000100b)\n"
      "NCCL INFO               + PCI[48.0] - GPU/38000 (3)\n"
      "NCCL INFO + SYS[10.0] - CPU/0\n"
      "NCCL INFO CPU/0 (1/1/2)\n"
      "NCCL INFO + PCI[48.0] - GPU/98000 (4)\n"
      "NCCL INFO + SYS[10.0] - CPU/1\n");
  ASSERT_EQ(machine.numa_nodes.size(), 2U);
  EXPECT_EQ(machine.numa_nodes[0].os_index, 1);
  EXPECT_EQ(machine.numa_nodes[1].os_index, 0);
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 2U);
  EXPECT_EQ(parent_of(machine, "gpu0"), "sw0");
  EXPECT_EQ(machine.socket_of(id_of(machine, "gpu0")), SocketId(0));
  EXPECT_THAT(machine.notes, has_note("begins below a CPU whose line is cut; taken for NUMA node 1"));
}

TEST(NcclLog, LinksAloneBeforeTheFirstCpuAreOfNoDevice) {
  auto const machine = machine_from_log(
      "NCCL INFO               + NVL[48.0] - NVS/0\nNCCL INFO + SYS[10.0] - CPU/1\nNCCL INFO CPU/1 (1/1/2)\n"
      "NCCL INFO + PCI[48.0] - GPU/98000 (4)\n");
  EXPECT_EQ(machine.sockets.size(), 1U);
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 1U);
}

TEST(NcclLog, IdsOfSwitchesAreHexadecimal) {
  auto const machine = machine_from_log(
      "NCCL INFO CPU/0 (1/2/-1)\nNCCL INFO + PCI[24.0] - PCI/40000 (100\xE0\xA4\xB2"
      "1010000000)\n"
      "NCCL INFO               + PCI[24.0] - GPU/47000 (0)\n");
  EXPECT_EQ(part_of(machine, "sw0"), "unknown");
}

TEST(NcclLog, ADeviceBelowAnAdapterIsItsNeighbour) {
  auto const machine = machine_from_log(
      "NCCL INFO CPU/0 (1/2/-1)\nNCCL INFO   + PCI[24.0] - NIC/43000\n"
      "NCCL INFO     + PCI[24.0] - GPU/47000 (0)\nNCCL INFO       + NVL[40.0] - GPU/4B000\n"
      "NCCL INFO     + PCI[24.0] - GPU/4B000 (1)\nNCCL INFO       + NVL[40.0] - GPU/47000\n");
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 2U);
  EXPECT_EQ(machine.nvlinks.size(), 1U);
}

TEST(NcclLog, PartsThatTheUserNames) {
  auto const machine = machine_from_log(tree("a:1:1 [0] NCCL INFO "),
                                        {.gpu = "a100-sxm4-40g", .cpu = "epyc-7742", .nic = "connectx-6-hdr"});
  EXPECT_EQ(part_of(machine, "gpu0"), "a100-sxm4-40g");
  EXPECT_EQ(part_of(machine, "nic0"), "connectx-6-hdr");
  EXPECT_EQ(machine.part_of(SocketId{0})->name, "epyc-7742");
}

TEST(NcclLog, NothingToReadIsAnErrorThatSaysWhatToDo) {
  auto catalogue = bundled();
  auto const error = [&](std::string const& text) {
    return error_of([&] { read_nccl_log(SourceText::from_memory("x.log", text), {}, catalogue); });
  };
  EXPECT_THAT(error("hello\n"), HasSubstr("NCCL_DEBUG=INFO"));
  EXPECT_THAT(error_of([&] {
                read_nccl_log(SourceText::from_memory("x.log", tree("NCCL INFO ")), {.gpu = "v100-sxm2-16g"},
                              catalogue);
              }),
              HasSubstr("12 links to others, but 'v100-sxm2-16g' has 6 NVLink ports"));
  EXPECT_THAT(error("a:1:1 NCCL INFO Bootstrap : Using eth0:10.0.0.2<0>\n"), HasSubstr("INIT,GRAPH"));
}

TEST(NcclLog, IsRecognised) {
  auto const* format = recognise_format(tree("a:1:1 [0] NCCL INFO "));
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(format->name, "nccl-log");
}

}  // namespace
}  // namespace lanewise
