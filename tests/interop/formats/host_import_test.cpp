// Tests machines made of several files of one host, and what is told where they contradict each other.
#include "core/interop/formats/host_import.hpp"

#include <fmt/format.h>

#include <regex>

#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr auto* kLspci = R"(00:00.0 Host bridge [0600]: Intel Corporation Device [8086:09a2]
	NUMA node: 0
00:01.0 PCI bridge [0604]: Intel Corporation Device [8086:347a]
	Bus: primary=00, secondary=01, subordinate=01
	Capabilities: [58] Express (v2) Root Port (Slot+), MSI 00
		LnkCap:	Port #0, Speed 16GT/s, Width x16
		LnkSta:	Speed 16GT/s, Width x16
	Capabilities: [2a0 v1] Access Control Services
		ACSCtl:	SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-
00:02.0 PCI bridge [0604]: Intel Corporation Device [8086:347b]
	Bus: primary=00, secondary=02, subordinate=02
01:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:20b2]
	NUMA node: 0
		LnkCap:	Port #0, Speed 16GT/s, Width x16
		LnkSta:	Speed 16GT/s, Width x16
02:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:20b2]
	NUMA node: 0
		LnkCap:	Port #0, Speed 16GT/s, Width x16
		LnkSta:	Speed 16GT/s, Width x8 (downgraded)
)";
constexpr auto* kHwloc = R"(<topology version="2.0"><object type="Machine" cpuset="0xff" nodeset="0x1">
<info name="DMIProductName" value="Some Server"/>
<object type="Package" cpuset="0xff" nodeset="0x1"><info name="CPUVendor" value="GenuineIntel"/>
<info name="CPUFamilyNumber" value="6"/><info name="CPUModelNumber" value="106"/>
<info name="CPUModel" value="Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz"/>
<object type="NUMANode" os_index="0" cpuset="0xff" nodeset="0x1"/>
<object type="Bridge" bridge_type="0-1" bridge_pci="0000:[00-02]">
<object type="Bridge" bridge_type="1-1" pci_busid="0000:00:01.0" pci_type="0604 [8086:347a] [0000:0000] 04">
<object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0302 [10de:20b5] [10de:1212] a1" pci_link_speed="31.507692"/></object></object>
</object></object></topology>
)";
constexpr auto* kTable = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-7\nGPU1\tNV12\t X \t0-7\n";

ForeignFile file(std::string name, std::string text) {
  auto source = SourceText::from_memory(std::move(name), std::move(text));
  auto const& format = recognised_format(source);
  return {std::move(source), &format};
}
Machine imported(std::vector<ForeignFile> const& files, TopoOptions const& parts = {}) {
  auto catalogue = bundled();
  auto machine = import_host(files, parts, catalogue);
  expect_reads_back(machine, catalogue);
  return machine;
}

TEST(HostImport, EachFileGivesWhatTheOthersLack) {
  auto const machine = imported({file("h.xml", kHwloc), file("l.txt", kLspci), file("t.txt", kTable)});
  EXPECT_EQ(machine.title, "Some Server");  // hwloc
  EXPECT_EQ(machine.at(*machine.sockets.front().part).name, "xeon-platinum-8380");
  EXPECT_EQ(machine.numa_nodes.front().cores, "0-7");
  EXPECT_EQ(function(machine, "gpu1").link, (PcieLink{4, 8}));  // lspci
  EXPECT_EQ(machine.hosts.front().settings.acs, AcsControl::off());
  ASSERT_EQ(machine.nvlinks.size(), 1U);  // topo -m
  EXPECT_EQ(machine.nvlinks.front().count, 12);
}

TEST(HostImport, ContradictionsSayWhoSaysWhat) {
  auto const machine = imported({file("h.xml", kHwloc), file("l.txt", kLspci)});
  EXPECT_EQ(part_of(machine, "gpu0"), "a100-sxm4-80g");
  EXPECT_THAT(machine.notes,
              has_note("contradiction: 0000:01:00.0: l.txt says 10de:20b2, h.xml says 10de:20b5; l.txt is taken"));
}

// What NCCL dumps of the same host; `device` of the second GPU, `numa` of all.
std::string nccl(std::string const& device = "0x20b2", int numa = 0) {
  return fmt::format(
      R"(<system version="1"><cpu numaid="{}" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="106">
<pci busid="0000:01:00.0" class="0x030200" vendor="0x10de" device="0x20b2" link_speed="16.0 GT/s PCIe" link_width="16">
<gpu dev="0" sm="80"><nvlink target="0000:02:00.0" count="12" tclass="0x030200"/></gpu></pci>
<pci busid="0000:02:00.0" class="0x030200" vendor="0x10de" device="{}" link_speed="16.0 GT/s PCIe" link_width="16">
<gpu dev="1" sm="80"><nvlink target="0000:01:00.0" count="12" tclass="0x030200"/></gpu></pci></cpu></system>)",
      numa, device);
}

TEST(HostImport, NcclGivesNvlinkAndWhatItSaysOfLinksIsNoContradiction) {
  auto const machine = imported({file("n.xml", nccl()), file("l.txt", kLspci)});
  ASSERT_EQ(machine.nvlinks.size(), 1U);
  EXPECT_EQ(machine.nvlinks.front().count, 12);
  EXPECT_TRUE(machine.nvswitches.empty());
  EXPECT_EQ(function(machine, "gpu1").link, (PcieLink{4, 8})) << "NCCL writes what both ends are capable of";
  EXPECT_EQ(machine.at(*machine.sockets.front().part).name, "xeon-ice-lake");
  EXPECT_EQ(machine.numa_nodes.front().cores, "0-7");
  EXPECT_EQ(machine.hosts.front().settings.acs, AcsControl::off());
  EXPECT_THAT(machine.notes, Not(has_note("contradiction:")));
}

TEST(HostImport, NcclContradictsOtherFilesByName) {
  auto const machine = imported({file("n.xml", nccl("0x20b5", 1)), file("l.txt", kLspci)});
  EXPECT_THAT(machine.notes,
              has_note("contradiction: 0000:02:00.0: l.txt says 10de:20b2, n.xml says 10de:20b5; l.txt is taken"));
  EXPECT_THAT(machine.notes,
              has_note("contradiction: 0000:01:00.0: l.txt says NUMA node 0, n.xml says 1; l.txt is taken"));
}

// Below a switch, whose ports NCCL does not write, and of which its log prints the rates.
constexpr auto* kSwitchXml =
    R"(<system version="1"><cpu numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="106">
<pci busid="0000:40:00.0" class="0x060400" vendor="0x1000" device="0xc010" link_speed="16.0 GT/s PCIe" link_width="16">
<pci busid="0000:47:00.0" class="0x030200" vendor="0x10de" device="0x20b2" link_speed="8.0 GT/s PCIe" link_width="16">
<gpu dev="0" sm="80"/></pci>
<pci busid="0000:48:00.0" class="0x020700" vendor="0x15b3" device="0x101b" link_speed="16.0 GT/s PCIe" link_width="16">
<nic><net name="mlx5_0" dev="0" speed="200000" gdr="1"/></nic></pci></pci></cpu></system>)";
std::string log_of_switch(std::string const& rate) {
  std::string text;
  for (auto const& line :
       {std::string("=== System : maxBw 24.0 totalBw 24.0 ==="), std::string("CPU/0 (1/1/2)"),
        std::string("+ PCI[24.0] - PCI/40000 (1000c01010000000)"), std::string("    + PCI[12.0] - GPU/47000 (0)"),
        std::string("    + PCI[24.0] - NIC/48000"), fmt::format("        + NET[{0}] - NET/0 (7a85/1/{0}00000)", rate),
        std::string("=========================================="), std::string("NET/IB : Using [0]mlx5_0:1/IB")})
    text += fmt::format("node7:1:2 [0] NCCL INFO {}\n", line);
  return text;
}

TEST(HostImport, NcclsFileAndItsLogAreOneMachine) {
  auto const machine = imported({file("n.log", log_of_switch("25.0")), file("n.xml", kSwitchXml)});
  EXPECT_EQ(part_of(machine, "gpu0"), "a100-sxm4-80g");
  EXPECT_EQ(parent_of(machine, "gpu0"), "sw0");
  EXPECT_EQ(parent_of(machine, "nic0"), "sw0");
  EXPECT_EQ(function(machine, "nic0").device_name, "mlx5_0");
  EXPECT_THAT(machine.notes, Not(has_note("contradiction:")));
  auto const slower = imported({file("n.log", log_of_switch("12.5")), file("n.xml", kSwitchXml)});
  EXPECT_THAT(slower.notes,
              has_note("contradiction: mlx5_0: n.xml says 25.0 GB/s, n.log says 12.5 GB/s; n.xml is taken"));
}

TEST(HostImport, ASwitchAboveIsNoContradictionWhereNcclLeavesOutItsPorts) {
  constexpr auto* kPorts = R"(00:01.0 PCI bridge [0604]: Intel Corporation Device [8086:347a]
	Bus: primary=00, secondary=40, subordinate=48
40:00.0 PCI bridge [0604]: Broadcom / LSI PEX880xx [1000:c010]
	Bus: primary=40, secondary=41, subordinate=48
41:00.0 PCI bridge [0604]: Broadcom / LSI PEX880xx [1000:c010]
	Bus: primary=41, secondary=47, subordinate=47
41:01.0 PCI bridge [0604]: Broadcom / LSI PEX880xx [1000:c010]
	Bus: primary=41, secondary=48, subordinate=48
47:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:20b2]
48:00.0 Infiniband controller [0207]: Mellanox Technologies MT28908 [15b3:101b]
)";
  auto const machine = imported({file("n.xml", kSwitchXml), file("l.txt", kPorts)});
  EXPECT_EQ(parent_of(machine, "gpu0"), "sw0");
  EXPECT_THAT(machine.notes, Not(has_note("contradiction:")));
  std::string moved = kPorts;
  moved.replace(moved.find("secondary=40, subordinate=48"), 28, "secondary=40, subordinate=47");
  moved.replace(moved.find("41:01.0"), 7, "00:02.0");
  EXPECT_THAT(imported({file("n.xml", kSwitchXml), file("l.txt", moved)}).notes,
              has_note("contradiction: 0000:48:00.0: l.txt says below 0000:00:02.0, n.xml says below 0000:40:00.0"));
}

TEST(HostImport, LinksThatNoFileListsAreThoseOfTheProduct) {
  auto const machine = imported({file("l.txt", kLspci)});
  ASSERT_EQ(machine.nvswitches.size(), 1U);
  EXPECT_EQ(machine.nvswitches.front().ports.front().count, 12);
  EXPECT_THAT(machine.notes, has_note("inferred: 12 NVLinks of each GPU to NVSwitches, as 'a100-sxm4-80g' has them; "
                                      "lspci lists no NVLink; --gpu names another product"));
  EXPECT_TRUE(imported({file("l.txt", kLspci), file("t.txt", kTable)}).nvswitches.empty()) << "the table has them";
}

TEST(HostImport, AGenericPartIsOfTheGpusMaker) {
  constexpr auto* kAmd =
      "======= ROCm System Management Interface =======\n======= Link Type between two GPUs =======\n"
      "       GPU0         GPU1\nGPU0   0            XGMI\nGPU1   XGMI         0\n";
  auto const machine = imported({file("r.txt", kAmd)});
  EXPECT_EQ(part_of(machine, "gpu0"), "amd-gpu-generic");
  EXPECT_THAT(machine.notes, has_note("inferred: 'amd-gpu-generic', a generic part with a wide range, stands for the "
                                      "GPU of AMD; --gpu names the exact one"));
  ASSERT_EQ(machine.nvlinks.size(), 1U);
  EXPECT_EQ(machine.at(machine.nvlinks.front().part).name, "xgmi-gpu-generic");
  EXPECT_THAT(machine.notes, has_note("inferred: 'xgmi-gpu-generic', a generic part with a wide range, for xGMI"));
  EXPECT_EQ(part_of(imported({file("r.txt", kAmd)}, {.gpu = "amd-mi300x"}), "gpu0"), "amd-mi300x");
}

TEST(HostImport, TheOrderOfFilesDoesNotMatter) {
  auto one = imported({file("h.xml", kHwloc), file("l.txt", kLspci)});
  auto other = imported({file("l.txt", kLspci), file("h.xml", kHwloc)});
  one.name = other.name = one.hosts.front().machine = other.hosts.front().machine = "same";
  EXPECT_EQ(one, other);
}

TEST(HostImport, ATableOfAnotherHostIsToldApart) {
  auto const machine = imported({file("l.txt", kLspci), file("t.txt", "\tGPU0\tCPU Affinity\nGPU0\t X \t0-7\n")});
  EXPECT_TRUE(machine.nvlinks.empty());
  EXPECT_THAT(machine.notes, has_note("contradiction: t.txt has 1 GPUs, the other files 2"));
}

TEST(HostImport, NamedPartsAreUsedAndChecked) {
  EXPECT_EQ(part_of(imported({file("l.txt",
                                   "17:00.0 3D controller: NVIDIA Corporation Device ffff\n"
                                   "18:00.0 Host bridge: Foo\n")},
                             {.gpu = "a100-pcie-40g", .cpu = "xeon-platinum-8380", .nic = "", .pcie_switch = ""}),
                    "gpu0"),
            "a100-pcie-40g");
  EXPECT_THROW(imported({file("l.txt", kLspci)}, {.gpu = "a1000", .cpu = "", .nic = "", .pcie_switch = ""}),
               InputError);
  EXPECT_THROW(
      imported({file("l.txt", kLspci)}, {.gpu = "xeon-platinum-8380", .cpu = "", .nic = "", .pcie_switch = ""}),
      InputError);
}

TEST(HostImport, FormatsThatCannotBeMergedSaySo) {
  try {
    imported({file("l.txt", kLspci), file("i.yaml", "devices: [{components: []}]\nedges: [{ep1: {}, ep2: {}}]\n")});
    FAIL() << "merged";
  } catch (InputError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("i.yaml is of the format infragraph"));
  }
}

TEST(HostImport, XgmiIsNotOfNvidiasGpus) {
  constexpr auto* kXgmi = R"(<system version="2"><cpu numaid="0">
<pci busid="0000:01:00.0" class="0x038000" vendor="0x1002" device="0x740c"><gpu dev="0" gcn="90a"><xgmi target="0000:02:00.0" count="1"/></gpu></pci>
<pci busid="0000:02:00.0" class="0x038000" vendor="0x1002" device="0x740c"><gpu dev="1" gcn="90a"/></pci></cpu></system>)";
  auto const machine = imported({file("n.xml", nccl()), file("l.txt", kLspci), file("r.xml", kXgmi)});
  ASSERT_EQ(machine.nvlinks.size(), 1U);
  EXPECT_EQ(machine.nvlinks.front().count, 12);
  EXPECT_THAT(machine.notes, has_note("contradiction: xGMI joins 0000:01:00.0 and 0000:02:00.0"));
}

TEST(HostImport, MoreLinksThanTheNamedPartHasAreRefused) {
  auto catalogue = bundled();
  auto const lspci = std::regex_replace(std::string(kLspci), std::regex("10de:20b2"), "10de:fff0");
  auto const table = std::regex_replace(std::string(kTable), std::regex("NV12"), "NV18");
  EXPECT_THAT(error_of([&] {
                import_host({file("l.txt", lspci), file("t.txt", table)}, {.gpu = "a100-sxm4-80g"}, catalogue);
              }),
              HasSubstr("what the files say together gives gpu0 18 NVLinks, but 'a100-sxm4-80g' has 12 ports; name "
                        "another part with --gpu"));
}

}  // namespace
}  // namespace lanewise
