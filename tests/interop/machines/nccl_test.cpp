#include "core/interop/machines/nccl/topology.hpp"

#include <fmt/format.h>

#include "core/interop/machines/nccl/document.hpp"
#include "core/interop/machines/nccl/notation.hpp"
#include "core/machine/path_class.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;

Machine imported_xml(std::string const& xml) {
  auto catalogue = bundled();
  auto const machine = read_nccl_topology(SourceText::from_memory("lab/node 7.xml", xml), catalogue);
  expect_reads_back(machine, catalogue);
  return machine;
}

std::string error_in_xml(std::string const& xml) {
  return error_of([&] { imported_xml(xml); });
}

constexpr auto* kSkylake =
    R"(numaid="0" affinity="0000ffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85")";
constexpr auto* kA100 = R"(class="0x030200" vendor="0x10de" device="0x20b5" link_speed="16 GT/s" link_width="16")";

// A file with one Skylake CPU that holds `inner`.
std::string on_one_cpu(std::string const& inner) {
  return fmt::format("<system version=\"1\">\n<cpu {}>\n{}\n</cpu>\n</system>\n", kSkylake, inner);
}

std::string gpu(std::string const& bus_id, std::string const& links = {}, int device = 0) {
  return fmt::format("<pci busid=\"{}\" {}><gpu dev=\"{}\" sm=\"80\">{}</gpu></pci>\n", bus_id, kA100, device, links);
}

// ------------------------------------------------------------------------------------------------------------ the tree

TEST(Nccl, SwitchWithGpuAndNicBelowAnInferredRootPort) {
  auto const machine = imported_xml(on_one_cpu(R"(
    <pci busid="0000:17:00.0" class="0x060400" vendor="0x1000" device="0xc010" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:19:00.0" class="0x030200" vendor="0x10de" device="0x20B5" link_speed="16 GT/s" link_width="16"/>
      <pci busid="0000:1a:00.0" class="0x020700" vendor="0x15b3" device="0x101b" link_speed="16.0 GT/s PCIe" link_width="8">
        <nic><net name="mlx5_2" dev="0" speed="100000" port="1" gdr="0"/><coll name="sharp"/></nic>
      </pci>
      <pci busid="0000:1b:00.0" class="0x010802" vendor="0x144d" device="0xa824" link_speed="8 GT/s" link_width="4"/>
    </pci>)"));
  EXPECT_EQ(machine.name, "node-7");
  EXPECT_EQ(parent_of(machine, "sw0"), "rp0");
  EXPECT_EQ(parent_of(machine, "gpu0"), "sw0");
  EXPECT_EQ(part_of(machine, "sw0"), "pex88096");
  EXPECT_EQ(part_of(machine, "gpu0"), "a100-pcie-80g");
  EXPECT_EQ(part_of(machine, "nic0"), "connectx-6-hdr");
  EXPECT_EQ(part_of(machine, "nvme0"), "pm1733");
  EXPECT_EQ(function(machine, "gpu0").bdf, "0000:19:00.0");
  EXPECT_EQ(function(machine, "gpu0").link, (PcieLink{4, 16}));
  EXPECT_EQ(function(machine, "nic0").link, (PcieLink{4, 8}));
  EXPECT_EQ(function(machine, "sw0").link, (PcieLink{3, 16}));
  EXPECT_EQ(function(machine, "nic0").device_name, "mlx5_2");
  EXPECT_EQ(function(machine, "nic0").rate, BytesPerSecond(12.5e9)) << "half of what the part can do";
  EXPECT_EQ(path_class(machine, id_of(machine, "gpu0"), id_of(machine, "nic0")), PathClass::Pix);
  EXPECT_EQ(machine.at(NumaId{0}).cores, "0-15");
  EXPECT_FALSE(machine.hosts[0].software.peermem);
  EXPECT_FALSE(machine.hosts[0].settings.acs.known);
  EXPECT_EQ(machine.hosts[0].settings.iommu, IommuMode::Unknown);
  EXPECT_FALSE(machine.hosts[0].settings.virtualization.passthrough);
}

TEST(Nccl, RootPortsOfASkylakeSocketHaveHostBridgesOfTheirOwn) {
  auto const machine = imported_xml(on_one_cpu(gpu("0000:18:00.0") + gpu("0000:3b:00.0", "", 1)));
  EXPECT_EQ(path_class(machine, id_of(machine, "gpu0"), id_of(machine, "gpu1")), PathClass::Node);
}

TEST(Nccl, GpusAreNumberedAsCudaDoes) {
  auto const machine = imported_xml(on_one_cpu(gpu("0000:18:00.0", "", 1) + gpu("0000:3b:00.0", "", 0)));
  EXPECT_EQ(function(machine, "gpu1").bdf, "0000:18:00.0");
  EXPECT_EQ(function(machine, "gpu0").bdf, "0000:3b:00.0");
}

TEST(Nccl, GpusAreNumberedInFileOrderWhereCudaNumbersRepeat) {
  auto const machine = imported_xml(on_one_cpu(gpu("0000:18:00.0", "", 1) + gpu("0000:3b:00.0", "", 1)));
  EXPECT_EQ(function(machine, "gpu0").bdf, "0000:18:00.0");
}

TEST(Nccl, BridgeOfOneDeviceBelowASwitchIsItsPort) {
  auto const machine = imported_xml(on_one_cpu(R"(
    <pci busid="0000:17:00.0" class="0x060400" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:19:00.0" class="0x060400" link_speed="8 GT/s" link_width="16">
        <pci busid="0000:1b:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
      </pci>
      <pci busid="0000:1c:00.0" class="0x060400" link_speed="" link_width="0">
        <pci busid="0000:1e:00.0" class="0x030200" link_speed="16 GT/s" link_width="8"/>
      </pci>
    </pci>)"));
  EXPECT_EQ(machine.all(PciKind::Switch).size(), 1U);
  EXPECT_EQ(parent_of(machine, "gpu0"), "sw0");
  EXPECT_EQ(function(machine, "gpu0").link, (PcieLink{3, 16})) << "two links in a row are as fast as the slower";
  EXPECT_EQ(function(machine, "gpu1").link, (PcieLink{4, 8}));
  EXPECT_THAT(machine.notes, has_note("2 bridges below a switch that hold one device each"));
}

TEST(Nccl, TwoViewsOfABroadcomChipAreOneSwitch) {
  auto const machine = imported_xml(on_one_cpu(R"(
    <pci busid="0000:17:00.0" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000" subsystem_device="0x0072" link_speed="5.0 GT/s PCIe" link_width="16">
      <pci busid="0000:19:00.0" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000" subsystem_device="0x1003" link_speed="32 GT/s" link_width="16">
        <pci busid="0000:1b:00.0" class="0x030200" link_speed="32 GT/s" link_width="16"/>
        <pci busid="0000:1c:00.0" class="0x030200" link_speed="32 GT/s" link_width="16"/>
      </pci>
      <pci busid="0000:1d:00.0" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000" subsystem_device="0x0072" link_speed="32 GT/s" link_width="16">
        <pci busid="0000:1e:00.0" class="0x030200" link_speed="32 GT/s" link_width="16"/>
        <pci busid="0000:1f:00.0" class="0x030200" link_speed="32 GT/s" link_width="16"/>
      </pci>
    </pci>)"));
  EXPECT_EQ(parent_of(machine, "gpu0"), "sw0");
  EXPECT_EQ(parent_of(machine, "gpu1"), "sw0");
  EXPECT_EQ(parent_of(machine, "gpu2"), "sw1") << "a cascaded chip stays a switch";
  EXPECT_EQ(parent_of(machine, "sw1"), "sw0");
  EXPECT_EQ(part_of(machine, "sw0"), "pex89144");
  EXPECT_THAT(machine.notes, has_note("a second view of the same switch"));
  EXPECT_THAT(machine.notes, has_note("slower link to the CPU than to their devices: sw0 (gen2 x16)"));
}

TEST(Nccl, BridgeWhoseOnlyChildIsABridgeIsOneSwitch) {
  auto const machine = imported_xml(on_one_cpu(R"(
    <pci busid="0000:17:00.0" class="0x060400" vendor="0x10b5" device="0x8796" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:18:00.0" class="0x060400" vendor="0x10b5" device="0x8796" link_speed="8 GT/s" link_width="16">
        <pci busid="0000:1b:00.0" class="0x030200" link_speed="8 GT/s" link_width="16"/>
        <pci busid="0000:1c:00.0" class="0x030200" link_speed="8 GT/s" link_width="16"/>
      </pci>
    </pci>)"));
  EXPECT_EQ(machine.all(PciKind::Switch).size(), 1U);
  EXPECT_EQ(part_of(machine, "sw0"), "pex8796");
}

TEST(Nccl, CascadedSwitchesStaySwitches) {
  auto const machine = imported_xml(on_one_cpu(R"(
    <pci busid="0000:17:00.0" class="0x060400" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:18:00.0" class="0x060400" link_speed="8 GT/s" link_width="16">
        <pci busid="0000:1a:00.0" class="0x030200"/><pci busid="0000:1b:00.0" class="0x030200"/>
      </pci>
      <pci busid="0000:20:00.0" class="0x060400" link_speed="8 GT/s" link_width="16">
        <pci busid="0000:22:00.0" class="0x030200"/><pci busid="0000:23:00.0" class="0x030200"/>
      </pci>
    </pci>)"));
  EXPECT_EQ(path_class(machine, id_of(machine, "gpu0"), id_of(machine, "gpu1")), PathClass::Pix);
  EXPECT_EQ(path_class(machine, id_of(machine, "gpu1"), id_of(machine, "gpu2")), PathClass::Pxb);
}

TEST(Nccl, BridgesWithOneAmdGpuAreOnItsCard) {
  auto const machine = imported_xml(on_one_cpu(R"(
    <pci busid="0000:41:00.0" class="0x060400" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:43:00.0" class="0x038000" link_speed="16 GT/s" link_width="16"><gpu dev="0" sm="60" gcn="906" rank="0" gdr="1"/></pci>
    </pci>
    <pci busid="0000:51:00.0" class="0x060400" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:53:00.0" class="0x038000" link_speed="16 GT/s" link_width="16"><gpu dev="1" sm="64" gcn="gfx906" rank="1" gdr="1"/></pci>
    </pci>)"));
  EXPECT_TRUE(machine.all(PciKind::Switch).empty());
  EXPECT_EQ(parent_of(machine, "gpu0"), "rp0");
  EXPECT_EQ(function(machine, "gpu0").link, (PcieLink{3, 16}));
  EXPECT_EQ(part_of(machine, "gpu0"), "amd-mi50");
  EXPECT_EQ(part_of(machine, "gpu1"), "amd-mi60");
}

// ------------------------------------------------------------------------------------------------- virtual machines

TEST(Nccl, DevicesOnTheRootBusHaveNoRootPort) {
  auto const machine = imported_xml(R"(<system version="1">
    <cpu host_hash="0x1" numaid="-1" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="207">
      <pci busid="0000:00:06.0" class="0x030200" vendor="0x10de" device="0x2335" link_speed="32.0 GT/s PCIe" link_width="0">
        <gpu dev="0" sm="90" gdr="1"><nvlink target="fffffff:ff:ff.0" count="18" tclass="0x068000"/></gpu>
      </pci>
      <nic><net name="eth0" dev="0" speed="10000" gdr="0"/></nic>
      <pci busid="0000:00:07.0" class="0x030200" vendor="0x10de" device="0x2335" link_speed="32.0 GT/s PCIe" link_width="0">
        <gpu dev="1" sm="90" gdr="1"><nvlink target="fffffff:ff:ff.0" count="18" tclass="0x068000"/></gpu>
      </pci>
    </cpu></system>)");
  EXPECT_TRUE(machine.all(PciKind::RootPort).empty());
  EXPECT_TRUE(machine.hosts[0].settings.virtualization.passthrough);
  EXPECT_FALSE(function(machine, "gpu0").link.has_value());
  EXPECT_EQ(machine.at(NumaId{0}).os_index, 0);
  EXPECT_EQ(machine.at(NumaId{0}).cores, "");
  EXPECT_EQ(part_of(machine, "nic0"), "virtio-net");
  EXPECT_EQ(function(machine, "nic0").device_name, "eth0");
  ASSERT_EQ(machine.nvswitches.size(), 1U);
  EXPECT_EQ(machine.at(machine.nvswitches[0].part).name, "nvswitch-3");
  EXPECT_EQ(nvlink_count(machine, id_of(machine, "gpu0"), id_of(machine, "gpu1")), 18);
  EXPECT_FALSE(machine.hosts[0].software.peermem) << "no NIC registered GPU memory";
  for (auto const* note : {"NUMA node -1", "on the root bus", "no PCIe link of gpu0, gpu1", "driver states no speed"})
    EXPECT_THAT(machine.notes, has_note(note));
}

TEST(Nccl, VirtualBridgesAreGenericSwitches) {
  auto const machine = imported_xml(on_one_cpu(R"(
    <pci busid="ffff:ff:01.0" class="0x060400" vendor="0xffff" device="0xffff" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:10:1c.0" class="0x030200" vendor="0x10de" device="0x20b0" link_speed="8 GT/s" link_width="16"/>
      <pci busid="0000:10:1b.0" class="0x020000" vendor="0x1d0f" device="0xefa0" link_speed="8 GT/s" link_width="16"/>
    </pci>)"));
  EXPECT_EQ(part_of(machine, "sw0"), "pcie-switch-gen3");
  EXPECT_EQ(function(machine, "sw0").bdf, "") << "it is not a device";
  EXPECT_EQ(part_of(machine, "nic0"), "efa-p4d");
  EXPECT_TRUE(machine.hosts[0].settings.virtualization.passthrough);
  EXPECT_THAT(machine.notes, has_note("below bridges at ffff:ff"));
}

// ---------------------------------------------------------------------------------------------------------------- CPUs

TEST(Nccl, AmdFamilyIsReadInBothForms) {
  for (auto const& [family, model, part] : {std::tuple(143, 49, "epyc-zen2"),
                                            {23, 49, "epyc-zen2"},
                                            {175, 1, "epyc-zen3"},
                                            {25, 17, "epyc-zen4"},
                                            {191, 2, "epyc-zen5"}}) {
    auto const machine = imported_xml(fmt::format(
        R"(<system version="2"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="{}" modelid="{}"/></system>)",
        family, model));
    ASSERT_TRUE(machine.sockets[0].part.has_value()) << family;
    EXPECT_EQ(machine.part_of(SocketId{0})->name, part);
  }
}

TEST(Nccl, AGenericPartStandsForAnUnknownCpu) {
  auto const machine = imported_xml(R"(<system version="1"><cpu numaid="3" arch="arm64"/></system>)");
  EXPECT_EQ(machine.part_of(SocketId{0})->name, "cpu-generic");
  EXPECT_THAT(machine.notes, has_note("inferred: 'cpu-generic', a generic part with a wide range, stands for a CPU"));
  EXPECT_THAT(machine.notes, has_note("--cpu names the exact one"));
  EXPECT_EQ(machine.numa_nodes[0].name, "numa3");
  EXPECT_THAT(machine.notes, has_note("does not name the CPU (only that it is arm64)"));
}

// `nodes` <cpu> elements from number `first` on; `cores`: of a node, of `all` in the host.
std::string divided(int nodes, std::string const& cpu, int cores, int all, int first = 0) {
  std::string xml = "<system version=\"1\">";
  for (int i = nodes - 1; i >= 0; --i) {  // NCCL writes them in the order in which it finds GPUs
    std::string mask;
    for (int word = 2 * all / 32 - 1; word >= 0; --word) {
      unsigned bits = 0;
      for (int bit = 0; bit < 32; ++bit) {
        auto const core = (word * 32 + bit) % all;
        if (core / cores == first + i) bits |= 1U << static_cast<unsigned>(bit);
      }
      mask += fmt::format("{:08x}{}", bits, word > 0 ? "," : "");
    }
    xml += fmt::format(R"(<cpu numaid="{}" affinity="{}" arch="x86_64" {}>
<pci busid="0000:{:02x}:00.0" class="0x030200" vendor="0x10de" device="0x20b5"><gpu dev="{}" sm="80"/></pci></cpu>)",
                       first + i, mask, cpu, 0x10 + i, i);
  }
  return xml + "</system>";
}
constexpr auto* kMilan = R"(vendor="AuthenticAMD" familyid="175" modelid="1")";
constexpr auto* kIceLake = R"(vendor="GenuineIntel" familyid="6" modelid="106")";

TEST(NcclNuma, NodesOfEpycAreThoseOfTwoSockets) {
  auto const machine = imported_xml(divided(8, kMilan, 16, 128));
  ASSERT_EQ(machine.sockets.size(), 2U);
  ASSERT_EQ(machine.numa_nodes.size(), 8U);
  EXPECT_EQ(machine.numa_nodes[3].socket, SocketId{0});
  EXPECT_EQ(machine.numa_nodes[4].socket, SocketId{1});
  EXPECT_EQ(machine.at(function(machine, "gpu5").host_bridge).numa, NumaId{5});
  EXPECT_THAT(machine.notes, has_note("inferred: 4 NUMA nodes a socket, for 8 nodes of EPYC are two sockets"));
  EXPECT_EQ(imported_xml(divided(2, kMilan, 64, 128)).sockets.size(), 2U);
}

TEST(NcclNuma, AffinityShowsNodesThatAreNotInTheFile) {
  auto const machine = imported_xml(divided(2, kMilan, 16, 128, 2));  // nodes 2 and 3 of eight
  EXPECT_EQ(machine.sockets.size(), 1U);
  EXPECT_EQ(machine.numa_nodes.size(), 2U);
}

TEST(NcclNuma, TheNumberOfCoresTellsTheSockets) {
  auto catalogue = bundled();
  auto const with_cpu = [&](std::string const& xml, std::string const& cpu) {
    return read_nccl_topology(SourceText::from_memory("n.xml", xml), {.cpu = cpu}, catalogue);
  };
  EXPECT_EQ(with_cpu(divided(4, kMilan, 16, 64), "epyc-7763").sockets.size(), 1U) << "64 cores are one socket";
  EXPECT_EQ(with_cpu(divided(4, kIceLake, 16, 64), "xeon-platinum-8380").sockets.size(), 2U);
  auto const unknown = imported_xml(divided(4, kIceLake, 16, 64));
  EXPECT_EQ(unknown.sockets.size(), 4U);
  EXPECT_THAT(unknown.notes, has_note("unless --cpu names a CPU whose number of cores tells it"));
}

TEST(Nccl, SocketLinksAreInferred) {
  auto const machine = imported_xml(R"(<system version="1">
    <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="106"/>
    <cpu numaid="1" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="106"/></system>)");
  ASSERT_EQ(machine.socket_links.size(), 1U);
  EXPECT_EQ(machine.at(machine.socket_links[0].part).name, "upi-11.2");
  EXPECT_EQ(machine.socket_links[0].count, 3);
  EXPECT_THAT(machine.notes, has_note("inferred: 3 x upi-11.2"));
  EXPECT_THAT(machine.notes, has_note("each is taken for a socket of its own"));
}

TEST(Nccl, CoreListOfAMask) {
  EXPECT_EQ(core_list("00ff00ff"), "0-7,16-23");
  EXPECT_EQ(core_list("00000000,00000000,00ffffff"), "0-23");
  EXPECT_EQ(core_list("ffffffff,00000001"), "0,32-63");
  EXPECT_EQ(core_list("0"), "");
  EXPECT_EQ(core_list("x"), std::nullopt);
  EXPECT_EQ(core_list("100000000"), std::nullopt);
}

// --------------------------------------------------------------------------------------------------------------- links

TEST(Nccl, NvlinkBetweenGpusIsOneBundle) {
  auto const machine = imported_xml(
      on_one_cpu(gpu("0000:18:00.0", R"(<nvlink target="0000:3b:00.0" count="12" tclass="0x030200"/>)") +
                 gpu("0000:3b:00.0", R"(<nvlink target="0000:18:00.0" count="12" tclass="0x030200"/>)", 1)));
  ASSERT_EQ(machine.nvlinks.size(), 1U);
  EXPECT_EQ(machine.nvlinks[0].count, 12);
  EXPECT_EQ(machine.at(machine.nvlinks[0].part).name, "nvlink-3");
}

TEST(Nccl, LinksToItselfAndToNothingAreLeftOut) {
  auto const machine =
      imported_xml(on_one_cpu(gpu("0000:18:00.0", R"(<nvlink target="0000:18:00.0" count="12" tclass="0x030200"/>
                                                                  <nvlink target="0000:99:00.0" count="2" tclass="0x030200"/>)")));
  EXPECT_TRUE(machine.nvlinks.empty());
  EXPECT_THAT(machine.notes, has_note("links of a GPU to itself"));
  EXPECT_THAT(machine.notes, has_note("leads to 0000:99:00.0, which is no GPU"));
}

TEST(Nccl, DirectionsThatDifferGiveTheSmaller) {
  auto const machine = imported_xml(
      on_one_cpu(gpu("0000:18:00.0", R"(<nvlink target="0000:3b:00.0" count="4" tclass="0x030200"/>)") +
                 gpu("0000:3b:00.0", R"(<nvlink target="0000:18:00.0" count="3" tclass="0x030200"/>)", 1)));
  EXPECT_EQ(machine.nvlinks.at(0).count, 3);
  EXPECT_THAT(machine.notes, has_note("the smaller is taken"));
}

TEST(Nccl, LinksToSeveralNvswitchesAreOneCrossbar) {
  constexpr auto* kLinks =
      R"(<nvlink target="0000:c1:00.0" count="5" tclass="0x068000"/><nvlink target="0000:c2:00.0" count="7" tclass="0x068000"/>)";
  auto const machine = imported_xml(on_one_cpu(gpu("0000:18:00.0", kLinks) + gpu("0000:3b:00.0", kLinks, 1)));
  ASSERT_EQ(machine.nvswitches.size(), 1U);
  EXPECT_EQ(machine.nvswitches[0].ports.at(1).count, 12);
  EXPECT_EQ(machine.at(machine.nvswitches[0].part).name, "nvswitch-2");
  EXPECT_EQ(machine.at(machine.nvswitches[0].link_part).name, "nvlink-3");
}

TEST(Nccl, GpusMayHaveDifferentNumbersOfLinksToTheNvswitches) {
  auto const link = [](int count) {
    return fmt::format(R"(<nvlink target="fffffff:ff:ff.0" count="{}" tclass="0x068000"/>)", count);
  };
  auto const machine = imported_xml(on_one_cpu(gpu("0000:18:00.0", link(12)) + gpu("0000:3b:00.0", link(10), 1)));
  EXPECT_EQ(machine.nvswitches.at(0).ports.at(0).count, 12);
  EXPECT_EQ(nvlink_count(machine, id_of(machine, "gpu0"), id_of(machine, "gpu1")), 10);
}

TEST(Nccl, GpuWithMoreLinksThanItsPartHasPortsIsNotThatPart) {
  auto const machine = imported_xml(
      on_one_cpu(gpu("0000:18:00.0", R"(<nvlink target="fffffff:ff:ff.0" count="18" tclass="0x068000"/>)")));
  EXPECT_EQ(part_of(machine, "gpu0"), "gpu-generic");
  EXPECT_THAT(machine.notes, has_note("18 NVLinks, but that part has 12 ports"));
}

TEST(Nccl, TheLinkOfAGenericGpuIsWhatTheFileSays) {
  auto const machine = imported_xml(
      R"(<system version="1"><cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
         <pci busid="0000:18:00.0" class="0x030200" vendor="0x10de" device="0xffff" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="89"/></pci></cpu></system>)");
  EXPECT_EQ(part_of(machine, "gpu0"), "gpu-generic");
  EXPECT_EQ(function(machine, "gpu0").link, (PcieLink{5, 16}));
}

TEST(Nccl, UnknownGpuGetsItsNvlinkGenerationFromItsCapability) {
  auto const machine = imported_xml(on_one_cpu(
      R"(<pci busid="0000:18:00.0" class="0x030200"><gpu dev="0" sm="70"><nvlink target="0000:3b:00.0" count="2" tclass="0x030200"/></gpu></pci>
         <pci busid="0000:3b:00.0" class="0x030200"><gpu dev="1" sm="70"/></pci>)"));
  EXPECT_EQ(part_of(machine, "gpu0"), "gpu-generic");
  EXPECT_EQ(machine.at(machine.nvlinks.at(0).part).name, "nvlink-2");
  EXPECT_THAT(machine.notes, has_note("compute capability 7.0 without a PCI id could be v100"));
}

TEST(Nccl, NvlinkOfAnUnknownGenerationIsGeneric) {
  auto const machine = imported_xml(on_one_cpu(
      R"(<pci busid="0000:18:00.0" class="0x030200"><gpu dev="0" sm="999"><nvlink target="0000:3b:00.0" count="2" tclass="0x030200"/></gpu></pci>
         <pci busid="0000:3b:00.0" class="0x030200"><gpu dev="1" sm="999"/></pci>)"));
  auto const& part = machine.at(machine.nvlinks.at(0).part);
  EXPECT_EQ(part.name, "nvlink-generic");
  EXPECT_GT(part.spread, 1.5);
}

TEST(Nccl, XgmiBetweenAmdGpus) {
  auto const machine = imported_xml(on_one_cpu(
      R"(<pci busid="0000:43:00.0" class="0x038000"><gpu dev="0" sm="64" gcn="906"><xgmi target="0000:53:00.0" count="1" tclass="0x038000"/></gpu></pci>
         <pci busid="0000:53:00.0" class="0x038000"><gpu dev="1" sm="64" gcn="906"><xgmi target="0000:43:00.0" count="1" tclass="0x038000"/></gpu></pci>)"));
  ASSERT_EQ(machine.nvlinks.size(), 1U);
  EXPECT_EQ(machine.at(machine.nvlinks[0].part).name, "xgmi-gpu-mi50") << "MI60 has the links of MI50";
}

TEST(Nccl, AGpuOfAmdThatTheCatalogueLacksIsGeneric) {
  auto const machine = imported_xml(on_one_cpu(
      R"(<pci busid="0000:43:00.0" class="0x120000" vendor="0x1002" device="0x75ff"><gpu dev="0" sm="256" gcn="gfx1250"><xgmi target="0000:53:00.0" count="1" tclass="0x120000"/></gpu></pci>
         <pci busid="0000:53:00.0" class="0x120000" vendor="0x1002" device="0x75ff"><gpu dev="1" sm="256" gcn="gfx1250"/></pci>)"));
  EXPECT_EQ(part_of(machine, "gpu0"), "amd-gpu-generic");
  EXPECT_THAT(machine.notes, has_note("'amd-gpu-generic', a generic part with a wide range, stands for a GPU of AMD"));
  ASSERT_EQ(machine.nvlinks.size(), 1U);
  EXPECT_EQ(machine.at(machine.nvlinks[0].part).name, "xgmi-gpu-generic");
  auto const range = *machine.at(machine.nvlinks[0].part).spread;
  auto const rate = *machine.at(machine.nvlinks[0].part).link.rate;
  EXPECT_LT(rate / range, BytesPerSecond(46e9)) << "MI50";
  EXPECT_GT(rate * range, BytesPerSecond(76.8e9)) << "MI355X";
}

TEST(Nccl, C2cAndNvlinkToTheCpu) {
  auto const grace = imported_xml(R"(<system version="1"><cpu numaid="0" arch="arm64">
    <pci busid="0009:01:00.0" class="0x030200" vendor="0x10de" device="0x2342" link_speed="32 GT/s" link_width="1">
      <gpu dev="0" sm="90"><c2c bw="45000" count="10"/></gpu></pci></cpu></system>)");
  EXPECT_EQ(grace.part_of(SocketId{0})->name, "grace");
  ASSERT_EQ(grace.nvlinks.size(), 1U);
  EXPECT_EQ(grace.nvlinks[0].b, NvlinkEnd(SocketId{0}));
  EXPECT_EQ(grace.nvlinks[0].count, 1) << "ten lanes of 45 GB/s are one C2C of 450 GB/s";
  auto const power = imported_xml(R"(<system version="1"><cpu numaid="0" arch="ppc64">
    <pci busid="0004:04:00.0" class="0x030200" vendor="0x10de" device="0x1db1" link_speed="8 GT/s" link_width="2">
      <gpu dev="0" sm="70"><nvlink target="0004:00:00.1" count="3" tclass="0x068001"/></gpu></pci></cpu></system>)");
  EXPECT_EQ(power.part_of(SocketId{0})->name, "power9-ac922");
  EXPECT_EQ(power.nvlinks.at(0).count, 3);
  EXPECT_EQ(power.at(power.nvlinks.at(0).part).name, "nvlink-2");
}

// ---------------------------------------------------------------------------------------------------------------- NICs

TEST(Nccl, PortsOfOneNicAreOneFunctionWithTheSumOfTheirRates) {
  auto const machine = imported_xml(on_one_cpu(R"(
    <pci busid="0000:17:00.0" class="0x020000" vendor="0x15b3" device="0x1021" link_speed="8 GT/s" link_width="16">
      <nic><net name="mlx5_0" speed="180000" port="1" gdr="1"/><net name="mlx5_1" speed="180000" port="2" gdr="1"/></nic>
    </pci>)"));
  EXPECT_EQ(machine.all(PciKind::Nic).size(), 1U);
  EXPECT_EQ(function(machine, "nic0").device_name, "mlx5_0");
  EXPECT_EQ(function(machine, "nic0").rate, BytesPerSecond(45e9));
  EXPECT_TRUE(machine.hosts[0].software.peermem);
  EXPECT_THAT(machine.notes, has_note("nic0 (mlx5_0, mlx5_1)"));
  EXPECT_THAT(machine.notes, has_note("inferred: peermem"));
}

TEST(Nccl, NicWithoutAnIdIsNamedByDriverAndSpeed) {
  auto const machine = imported_xml(on_one_cpu(
      R"(<pci busid="0000:17:00.0" class="0x020000" link_speed="8 GT/s" link_width="16"><nic><net name="mlx5_0" speed="200000"/></nic></pci>
         <pci busid="0000:18:00.0" class="0x020000"><nic><net name="bnxt_re0" speed="200000"/></nic></pci>)"));
  EXPECT_EQ(part_of(machine, "nic0"), "connectx-6-hdr");
  EXPECT_EQ(part_of(machine, "nic1"), "unknown");
  EXPECT_EQ(function(machine, "nic1").rate, BytesPerSecond(25e9));
}

TEST(Nccl, NetWithoutAPciAddressIsOnTheRootBus) {
  auto const machine = imported_xml(on_one_cpu(gpu("0000:18:00.0") + R"(<nic><net name="eth1" speed="25000"/></nic>)"));
  EXPECT_EQ(parent_of(machine, "nic0"), "");
  EXPECT_EQ(part_of(machine, "nic0"), "ethernet-generic");
  EXPECT_THAT(machine.notes, has_note("where 'eth1' is attached is not in the file"));
}

// ------------------------------------------------------------------------------------------- links that cannot be so

TEST(Nccl, LinkBeyondThePartIsCut) {
  auto const machine = imported_xml(on_one_cpu(
      R"(<pci busid="0000:18:00.0" class="0x030200" vendor="0x10de" device="0x20b5" link_speed="32 GT/s" link_width="16"/>)"));
  EXPECT_EQ(function(machine, "gpu0").link, (PcieLink{3, 16})) << "a root port of Skylake is gen3";
  EXPECT_THAT(machine.notes, has_note("gpu0: the file says gen5 x16"));
}

TEST(Nccl, WithoutACatalogueOnlyPartsAreMissing) {
  Catalogue catalogue({});
  auto const machine = read_nccl_topology(
      SourceText::from_memory(
          "node.xml", on_one_cpu(gpu("0000:18:00.0", R"(<nvlink target="0000:3b:00.0" count="4" tclass="0x030200"/>
                                                                          <nvlink target="fffffff:ff:ff.0" count="8" tclass="0x068000"/>)") +
                                 gpu("0000:3b:00.0", "", 1))),
      catalogue);
  expect_reads_back(machine, catalogue);
  EXPECT_EQ(part_of(machine, "gpu0"), "unknown");
  EXPECT_EQ(machine.nvlinks.size(), 1U);
  EXPECT_THAT(machine.notes, has_note("the figures of 'nvlink-"));
}

TEST(Nccl, UnknownSpeedsWidthsIdsAndElementsAreNoted) {
  auto const machine = imported_xml(on_one_cpu(R"(
    <pci busid="0000:18:00.0" class="0x030200" vendor="0x10de" device="0xbeef" link_speed="Unknown speed" link_width="7">
      <gpu dev="0" sm="80" new_attribute="1"><future/></gpu></pci>
    <pci busid="0000:19:00.0" class="0x068000"/>
    <gadget/>)"));
  EXPECT_EQ(part_of(machine, "gpu0"), "gpu-generic");
  EXPECT_EQ(function(machine, "dev0").kind, PciKind::Device);
  for (auto const* note : {"'Unknown speed' is not one of PCIe", "7 lanes", "PCI id 10de:beef", "<future>", "<gadget>"})
    EXPECT_THAT(machine.notes, has_note(note));
}

// -------------------------------------------------------------------------------------------------------------- errors

TEST(NcclErrors, NotXmlAndTruncated) {
  EXPECT_THAT(error_in_xml("lanewise: machine/1\n"), HasSubstr("not valid XML"));
  EXPECT_THAT(error_in_xml(""), HasSubstr("not valid XML"));
  EXPECT_THAT(error_in_xml("<system version=\"1\">\n<cpu numaid=\"0\">\n"), HasSubstr("lab/node 7.xml:"));
  EXPECT_THAT(error_in_xml("<system version=\"1\">\n  <cpu numaid=\"0\" x\n"), HasSubstr(":3:"));
}

TEST(NcclErrors, OtherRoots) {
  EXPECT_THAT(error_in_xml("<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology/>"),
              HasSubstr("3:2: error: this is hwloc XML"));
  EXPECT_THAT(error_in_xml("<html/>"), HasSubstr("the root element is <html>"));
  EXPECT_THAT(error_in_xml("<system/><system/>"), HasSubstr("a second root element"));
  EXPECT_THAT(error_in_xml("<system version=\"1\"/>"), HasSubstr("no <cpu>"));
}

TEST(NcclErrors, EntitiesAreRefused) {
  EXPECT_THAT(error_in_xml("<!DOCTYPE system [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\n<system version=\"1\"><cpu "
                           "numaid=\"0\"/></system>"),
              HasSubstr("1:1: error: a DOCTYPE is not accepted"));
}

TEST(NcclErrors, NestedTooDeep) {
  std::string xml;
  for (int i = 0; i < 100; ++i) xml += fmt::format(R"(<pci busid="0000:{:02x}:00.0" class="0x060400">)", i);
  for (int i = 0; i < 100; ++i) xml += "</pci>";
  EXPECT_THAT(error_in_xml(on_one_cpu(xml)), HasSubstr("nested deeper than 64 levels"));
}

TEST(NcclErrors, AGraphFileIsRecognised) {
  EXPECT_THAT(error_in_xml("<graphs version=\"1\"><graph id=\"0\"/></graphs>"),
              HasSubstr("this is NCCL's graph file (NCCL_GRAPH_DUMP_FILE)"));
}

// ---------------------------------------------------------------------------------------------------------- odd values

TEST(NcclOdd, EachCostsItselfAndIsNotedWithItsLine) {
  auto const machine = imported_xml(
      "<system version=\"1\">\n"
      "<cpu numaid=\"x\" affinity=\"zz\">\n"
      "  <pci class=\"0x030200\"/>\n"
      "  <pci busid=\"nonsense\" class=\"0x030200\"/>\n"
      "  <pci busid=\"0000:01:00.0\" class=\"gpu\"/>\n"
      "  <pci busid=\"0000:01:00.0\" class=\"0x030200\"/>\n"
      "  <pci busid=\"0000:03:00.0\" class=\"0x030200\"><gpu dev=\"-7\"><nvlink count=\"0\"/></gpu></pci>\n"
      "</cpu>\n<cpu numaid=\"0\"/>\n</system>\n");
  for (auto const* expected :
       {"line 2: numaid=\"x\"", "line 2: affinity=\"zz\"", "line 3: <pci> has no busid", "line 4: busid=\"nonsense\"",
        "line 5: class=\"gpu\"", "line 6: the busid 0000:01:00.0 stands twice (first at line 5)", "line 7: dev=\"-7\"",
        "line 7: count=\"0\"", "has no target", "NUMA node 0 stands twice; the second is taken for node 1"})
    EXPECT_THAT(machine.notes, has_note(expected));
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 4U);
  EXPECT_EQ(machine.sockets.size(), 2U);
  EXPECT_EQ(function(machine, "gpu2").bdf, "");  // the second of one address
}

TEST(NcclOdd, TheSameBridgeInSeveralPlacesIsSeveralBridges) {
  std::string groups;
  for (int i = 1; i < 4; ++i)
    groups += fmt::format(R"(<pci busid="0000:c5:00.0" class="0x060400" link_speed="16 GT/s" link_width="16">)"
                          "{}{}</pci>\n",
                          gpu(fmt::format("0000:{:02x}:00.0", 2 * i), {}, 2 * i),
                          gpu(fmt::format("0000:{:02x}:00.0", 2 * i + 1), {}, 2 * i + 1));
  auto const machine = imported_xml(on_one_cpu(groups));
  EXPECT_EQ(machine.all(PciKind::Switch).size(), 3U);
  EXPECT_EQ(path_class(machine, id_of(machine, "gpu2"), id_of(machine, "gpu3")), PathClass::Pix);
  EXPECT_NE(path_class(machine, id_of(machine, "gpu2"), id_of(machine, "gpu4")), PathClass::Pix);
}

TEST(NcclOdd, KilobitsAreTakenForWhatTheyAre) {
  auto const machine = imported_xml(on_one_cpu(
      R"(<pci busid="0000:19:00.0" class="0x020000"><nic><net name="cxi0" dev="0" speed="200000000"/></nic></pci>
         <pci busid="0000:1a:00.0" class="0x020000"><nic><net name="cxi1" dev="1" speed="99999999999"/></nic></pci>)"));
  EXPECT_EQ(function(machine, "nic0").rate, BytesPerSecond(25e9));
  EXPECT_FALSE(function(machine, "nic1").rate.has_value());
  EXPECT_THAT(machine.notes, has_note("taken for kb/s, 200 Gb/s"));
}

TEST(NcclOdd, ClassesThatDoNotFit) {
  auto const machine = imported_xml(on_one_cpu(
      R"(<pci busid="0000:17:00.0" class="0x030200"><pci busid="0000:18:00.0" class="0x020700"/></pci>
         <pci busid="0000:27:00.0" class="0x060400"><gpu dev="0" sm="80"/><pci busid="0000:28:00.0" class="0x020700"/></pci>)"));
  EXPECT_EQ(machine.all(PciKind::Switch).size() + machine.all(PciKind::Gpu).size(), 2U);
  EXPECT_EQ(machine.all(PciKind::Nic).size(), 2U);
  EXPECT_THAT(machine.notes, has_note("taken for a bridge"));
  EXPECT_THAT(machine.notes, has_note("taken for its neighbours"));
}

TEST(NcclOdd, OnlyTheFirstOfSeveralHostsIsRead) {
  auto const machine = imported_xml(
      "<system version=\"1\"><cpu host_hash=\"0x1\" numaid=\"0\"/>\n<cpu host_hash=\"0x2\" numaid=\"1\"/></system>");
  EXPECT_EQ(machine.sockets.size(), 1U);
  EXPECT_THAT(machine.notes, has_note("line 2: a CPU of another host"));
  EXPECT_THAT(machine.notes, has_note("missing: the file has no GPU"));
}

// --------------------------------------------------------------------------------------------------------- static
// files

std::string static_file(int gpus, std::string const& inner = {}) {
  std::string text = "<system version=\"1\">\n<cpu numaid=\"0\">\n";
  for (int i = 0; i < gpus; ++i)
    text +=
        fmt::format("<pci busid=\"ffff:ff:{:02x}.0\" class=\"0x060400\"><pci busid=\"{:04x}:00:00.0\" {}/>{}</pci>\n",
                    i + 1, i + 1, R"(class="0x030200" link_speed="16 GT/s" link_width="16")", inner);
  return text + "</cpu>\n</system>\n";
}

Machine imported_static(std::string const& name, std::string const& xml, TopoOptions const& options = {}) {
  auto catalogue = bundled();
  auto const machine = read_nccl_topology(SourceText::from_memory(name, xml), options, catalogue);
  expect_reads_back(machine, catalogue);
  return machine;
}

TEST(NcclStatic, TheInstanceThatTheFileNamesGivesGpusAndNvlink) {
  auto const machine = imported_static("ndv4-topo.xml", static_file(8));
  EXPECT_EQ(part_of(machine, "gpu7"), "a100-sxm4-40g");
  ASSERT_EQ(machine.nvswitches.size(), 1U);
  EXPECT_EQ(machine.nvswitches[0].ports.size(), 8U);
  EXPECT_EQ(machine.nvswitches[0].ports[3].count, 12);
  EXPECT_THAT(machine.notes, has_note("inferred: GPUs 'a100-sxm4-40g', for the file names Azure ND A100 v4"));
  EXPECT_THAT(machine.notes, has_note("inferred: 12 NVLinks of each GPU"));
  auto const commented = imported_static("t.xml", "<!-- for `p4de.24xlarge` -->\n" + static_file(8));
  EXPECT_EQ(part_of(commented, "gpu0"), "a100-sxm4-80g");
}

TEST(NcclStatic, TheOptionNamesTheProduct) {
  auto const four = imported_static("mine.xml", static_file(4), {.gpu = "h100-sxm5-80g"});
  EXPECT_EQ(part_of(four, "gpu0"), "h100-sxm5-80g");
  ASSERT_EQ(four.nvlinks.size(), 6U);
  EXPECT_EQ(four.nvlinks[0].count, 6);
  auto const mesh = imported_static("ndv2-topo.xml", static_file(8));
  EXPECT_EQ(mesh.nvlinks.size(), 16U);
  EXPECT_THAT(mesh.notes, has_note("whose GPUs may be numbered otherwise"));
  auto const cards = imported_static("ncv4-topo.xml", static_file(4));
  EXPECT_TRUE(cards.nvlinks.empty());
  EXPECT_THAT(cards.notes, has_note("whether bridges join its 'a100-pcie-80g' is not known"));
  EXPECT_EQ(error_of([] { imported_static("mine.xml", static_file(4), {.gpu = "h100-smx5-80g"}); }),
            "no part is called 'h100-smx5-80g'; did you mean 'h100-sxm5-80g'?");
}

TEST(NcclStatic, EightGpusWithANicEachAreTheEightGpuBoard) {
  auto const nic = R"(<pci busid="0f0f:00:00.0" class="0x020700"/>)";
  auto const machine = imported_static("mine.xml", static_file(8, nic));
  EXPECT_EQ(part_of(machine, "gpu0"), "a100-sxm4-80g");
  EXPECT_THAT(machine.notes, has_note("a NIC for each"));
  EXPECT_EQ(part_of(imported_static("mine.xml", static_file(8)), "gpu0"), "gpu-generic");
}

TEST(NcclStatic, DevicesWithoutAClassAreThoseOfTheInstance) {
  std::string xml = "<!-- g5.48xlarge -->\n<system version=\"1\"><cpu numaid=\"0\">";
  for (int i = 0; i < 9; ++i) xml += fmt::format("<pci busid=\"0000:00:{:02x}.0\"/>", 0x15 + i);
  auto const machine = imported_static("g5.xml", xml + "</cpu></system>");
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 8U);
  EXPECT_EQ(machine.all(PciKind::Nic).size(), 1U);
  EXPECT_THAT(machine.notes, has_note("of the 9 devices without a class the first 8 are GPUs"));
}

}  // namespace
}  // namespace lanewise
