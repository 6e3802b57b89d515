// Tests facts and machines from hwloc's XML of versions 1, 2 and 3.
#include "core/interop/host/files/hwloc.hpp"

#include "core/interop/host/files/hwloc_sets.hpp"
#include "core/interop/host/host_machine.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two sockets; below the first a switch with two GPUs that two NVLinks join, and an adapter.
std::string server(std::string const& version, std::string const& kind_of_gpu, std::string const& kind_of_fabric) {
  return R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version=")" +
         version + R"(">
 <object type="Machine" os_index="0" cpuset="0x000000ff" nodeset="0x00000003" gp_index="1">
  <info name="DMIProductName" value="Some Server"/>
  <object type="Package" os_index="0" cpuset="0x0000000f" nodeset="0x00000001" gp_index="2">
   <info name="CPUVendor" value="GenuineIntel"/><info name="CPUFamilyNumber" value="6"/>
   <info name="CPUModelNumber" value="85"/><info name="CPUModel" value="Intel(R) Xeon(R) Gold 6148 CPU"/>
   <object type="NUMANode" os_index="0" cpuset="0x0000000f" nodeset="0x00000001" gp_index="3"/>
   <object type="Bridge" gp_index="10" bridge_type="0-1" depth="0" bridge_pci="0000:[16-1f]">
    <object type="Bridge" gp_index="11" bridge_type="1-1" depth="1" bridge_pci="0000:[17-1f]" pci_busid="0000:16:00.0" pci_type="0604 [8086:2030] [0000:0000] 04" pci_link_speed="15.753846">
     <object type="Bridge" gp_index="12" bridge_type="1-1" depth="2" bridge_pci="0000:[18-1f]" pci_busid="0000:17:00.0" pci_type="0604 [10b5:8764] [10b5:8764] ca" pci_link_speed="15.753846">
      <object type="Bridge" gp_index="13" bridge_type="1-1" depth="3" bridge_pci="0000:[19-19]" pci_busid="0000:18:00.0" pci_type="0604 [10b5:8764] [10b5:8764] ca" pci_link_speed="15.753846">
       <object type="PCIDev" gp_index="14" pci_busid="0000:19:00.0" pci_type="0302 [10de:1db1] [10de:1212] a1" pci_link_speed="4.000000">
        <object type="OSDev" gp_index="20" name="nvml0" subtype="NVML" osdev_type=")" +
         kind_of_gpu + R"(">
         <info name="GPUVendor" value="NVIDIA Corporation"/><info name="GPUModel" value="Tesla V100-SXM2-16GB"/></object>
       </object></object>
      <object type="Bridge" gp_index="15" bridge_type="1-1" depth="3" bridge_pci="0000:[1a-1a]" pci_busid="0000:18:01.0" pci_type="0604 [10b5:8764] [10b5:8764] ca" pci_link_speed="15.753846">
       <object type="PCIDev" gp_index="16" pci_busid="0000:1a:00.0" pci_type="0302 [10de:1db1] [10de:1212] a1" pci_link_speed="15.753846">
        <object type="OSDev" gp_index="21" name="nvml1" subtype="NVML" osdev_type=")" +
         kind_of_gpu + R"(">
         <info name="GPUVendor" value="NVIDIA Corporation"/><info name="GPUModel" value="Tesla V100-SXM2-16GB"/></object>
       </object></object>
     </object></object>
    <object type="Bridge" gp_index="17" bridge_type="1-1" depth="1" bridge_pci="0000:[1b-1b]" pci_busid="0000:16:02.0" pci_type="0604 [8086:2032] [0000:0000] 04" pci_link_speed="15.753846">
     <object type="PCIDev" gp_index="18" pci_busid="0000:1b:00.0" pci_type="0207 [15b3:1019] [15b3:0006] 00" pci_link_speed="15.753846">
      <object type="OSDev" gp_index="22" name="mlx5_0" osdev_type=")" +
         kind_of_fabric + R"("/></object></object>
   </object></object>
  <object type="Package" os_index="1" cpuset="0x000000f0" nodeset="0x00000002" gp_index="4">
   <object type="NUMANode" os_index="1" cpuset="0x000000f0" nodeset="0x00000002" gp_index="5"/></object>
 </object>
 <distances2 type="OSDev" nbobjs="2" kind="9" name="NVLinkBandwidth" indexing="gp">
  <indexes length="6">20 21 </indexes><u64values length="30">1000000 50000 </u64values><u64values length="30">50000 1000000 </u64values></distances2>
</topology>
)";
}

class Hwloc : public testing::Test {
 protected:
  Machine machine_of_text(std::string const& text) {
    auto machine = machine_of(read_hwloc(SourceText::from_memory("host.xml", text)), "host", std::nullopt, catalogue_);
    expect_reads_back(machine, catalogue_);
    return machine;
  }
  void expect_server(Machine const& machine) {
    EXPECT_EQ(machine.title, "Some Server");
    EXPECT_EQ(machine.sockets.size(), 2U);
    EXPECT_EQ(machine.numa_nodes.at(1).cores, "4-7");
    auto const& gpu = function(machine, "gpu0");
    EXPECT_EQ(machine.at(*gpu.parent).name, "sw0");
    EXPECT_EQ(gpu.parent, function(machine, "gpu1").parent);
    EXPECT_EQ(machine.at(*gpu.part).name, "v100-sxm2-16g");
    EXPECT_EQ(gpu.link, (PcieLink{3, 16}));  // it slept at gen1
    EXPECT_EQ(function(machine, "gpu1").link, (PcieLink{3, 16}));
    EXPECT_EQ(function(machine, "nic0").device_name, "mlx5_0");
    ASSERT_EQ(machine.nvlinks.size(), 1U);
    EXPECT_EQ(machine.nvlinks.front().count, 2);
    EXPECT_FALSE(machine.hosts.front().settings.acs.known);
  }
  Catalogue catalogue_ = bundled();
};

TEST_F(Hwloc, ReadsVersions2And3) {
  expect_server(machine_of_text(server("2.0", "1", "3")));
  expect_server(machine_of_text(server("3.0", "12", "32")));
}

TEST_F(Hwloc, ReadsVersion1WithItsNesting) {
  auto const machine = machine_of_text(R"(<!DOCTYPE topology SYSTEM "hwloc.dtd"><topology>
<object type="Machine" os_index="0" cpuset="0x0000000f">
 <object type="NUMANode" os_index="0" cpuset="0x00000003" nodeset="0x00000001"><object type="Socket" os_index="0" cpuset="0x00000003"/></object>
 <object type="NUMANode" os_index="1" cpuset="0x0000000c" nodeset="0x00000002"><object type="Socket" os_index="1" cpuset="0x0000000c"/>
  <object type="Bridge" os_index="1" bridge_type="0-1" depth="0" bridge_pci="0000:[80-81]">
   <object type="Bridge" os_index="8" bridge_type="1-1" depth="1" bridge_pci="0000:[81-81]" pci_busid="0000:80:01.0" pci_type="0604 [8086:2f04] [0000:0000] 02" pci_link_speed="0.000000">
    <object type="PCIDev" os_index="9" pci_busid="0000:81:00.0" pci_type="0302 [10de:15f8] [10de:118f] a1" pci_link_speed="15.753846"/>
 </object></object></object></object></topology>)");
  auto const& gpu = function(machine, "gpu0");
  EXPECT_EQ(machine.at(machine.at(gpu.host_bridge).socket).name, "cpu1");
  EXPECT_EQ(machine.at(*gpu.part).name, "p100-pcie-16g");
  EXPECT_EQ(gpu.link, (PcieLink{3, 16}));
  // It is the format that has no ACS; no root could read it.
  EXPECT_THAT(machine.notes, Contains(HasSubstr("hwloc's XML has no ACS")));
  EXPECT_THAT(machine.notes, testing::Not(Contains(HasSubstr("config space"))));
}

TEST_F(Hwloc, WithoutPciSaysSo) {
  auto const machine = machine_of_text(
      R"(<topology version="2.0"><object type="Machine" cpuset="0x1"><object type="NUMANode" os_index="0" cpuset="0x1"/></object></topology>)");
  EXPECT_THAT(machine.notes, Contains(HasSubstr("the file has no PCI devices")));
}

TEST_F(Hwloc, OddValuesCostThemselves) {
  auto const machine = machine_of_text(
      R"(<topology version="2.0"><object type="Machine" cpuset="oops"><object type="NUMANode" os_index="-3"/>
<object type="PCIDev" pci_busid="nowhere" pci_type="0302"/><object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0302 [10de:15f8] [10de:118f] a1" pci_link_speed="banana"/>
<object type="PCIDev" pci_busid="0000:01:00.0" pci_type=""/></object>
<distances2 type="OSDev" nbobjs="2" name="NVLinkBandwidth"><indexes>1 2</indexes><u64values>1</u64values></distances2></topology>)");
  EXPECT_FALSE(function(machine, "gpu0").link.has_value());
  EXPECT_THAT(machine.notes, Contains(HasSubstr("'nowhere' is no PCI address")));
  EXPECT_THAT(machine.notes, Contains(HasSubstr("in the file twice")));
}

TEST_F(Hwloc, AnOddRangeOfBusesIsLeftOut) {
  auto text = server("2.0", "1", "2");
  auto const at = text.find("0000:[16-1f]");
  text.replace(at, 12, "[000:[16-1f]");
  auto const machine = machine_of_text(text);  // also held to its own reader
  EXPECT_EQ(machine.at(function(machine, "gpu0").host_bridge).name, "pci0000-16");
}

TEST(HwlocSets, AreReadAndWritten) {
  EXPECT_THAT(hwloc_set("0x00000005"), ElementsAre(0, 2));
  EXPECT_THAT(hwloc_set("0x00000001,0x80000000"), ElementsAre(31, 32));
  EXPECT_THAT(hwloc_set("0x1,,0x1"), ElementsAre(0, 64));
  EXPECT_THAT(hwloc_set("0xf...f"), IsEmpty());
  EXPECT_THAT(hwloc_set("oops"), IsEmpty());
  EXPECT_EQ(ranges_of({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(ranges_of({}), "");
}

TEST(HwlocErrors, PointAtTheirPlace) {
  try {
    read_hwloc(SourceText::from_memory("host.xml", "<topology>\n <object>\n</topology>"));
    FAIL() << "accepted";
  } catch (InputError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("host.xml:3:"));
  }
  EXPECT_THROW(read_hwloc(SourceText::from_memory("host.xml", "<system/>")), InputError);
}

}  // namespace
}  // namespace lanewise
