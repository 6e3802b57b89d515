// Tests machines made of several files of one host, and what is told where they contradict each other.
#include "core/interop/formats/host_import.hpp"

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
    imported({file("l.txt", kLspci), file("n.xml", "<system version=\"1\"><cpu numaid=\"0\"/></system>")});
    FAIL() << "merged";
  } catch (InputError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("n.xml is of the format nccl"));
  }
}

}  // namespace
}  // namespace lanewise
