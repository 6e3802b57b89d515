// Tests facts and machines from what lspci prints: records, drawings, and what is missing without root.
#include "core/interop/host/files/lspci.hpp"

#include "core/interop/host/host_machine.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// A server as root sees it: a root port, a switch with an idle GPU and a slower NIC, and a drive on the other socket.
constexpr auto* kServer = R"(00:00.0 Host bridge [0600]: Advanced Micro Devices, Inc. [AMD] Device [1022:153a]
	NUMA node: 0

00:01.1 PCI bridge [0604]: Advanced Micro Devices, Inc. [AMD] Device [1022:153d] (rev 01) (prog-if 00 [Normal decode])
	NUMA node: 0
	IOMMU group: 3
	Bus: primary=00, secondary=01, subordinate=05, sec-latency=0
	Capabilities: [58] Express (v2) Root Port (Slot+), MSI 00
		LnkCap:	Port #0, Speed 32GT/s, Width x16, ASPM L1, Exit Latency L1 <64us
		LnkSta:	Speed 32GT/s, Width x16
	Capabilities: [2a0 v1] Access Control Services
		ACSCap:	SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+
		ACSCtl:	SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-

00:18.0 Host bridge [0600]: Advanced Micro Devices, Inc. [AMD] Device [1022:12c0]

00:19.0 Host bridge [0600]: Advanced Micro Devices, Inc. [AMD] Device [1022:12c0]

01:00.0 PCI bridge [0604]: Broadcom / LSI PEX890xx PCIe Gen 5 Switch [1000:c030] (rev b0)
	Bus: primary=01, secondary=02, subordinate=05, sec-latency=0
	Capabilities: [68] Express (v2) Upstream Port, MSI 00
		LnkCap:	Port #200, Speed 32GT/s, Width x16
		LnkSta:	Speed 32GT/s, Width x16
	Capabilities: [100 v1] Device Serial Number 00-80-5e-4e-c7-25-dc-08

02:00.0 PCI bridge [0604]: Broadcom / LSI PEX890xx PCIe Gen 5 Switch [1000:c030] (rev b0)
	Bus: primary=02, secondary=03, subordinate=03, sec-latency=0
	Capabilities: [68] Express (v2) Downstream Port (Slot+), MSI 00
		LnkCap:	Port #0, Speed 32GT/s, Width x16
		LnkSta:	Speed 2.5GT/s (downgraded), Width x16 (ok)
	Capabilities: [170 v1] Access Control Services
		ACSCtl:	SrcValid+ TransBlk- ReqRedir- CmpltRedir- UpstreamFwd+ EgressCtrl- DirectTrans-

02:01.0 PCI bridge [0604]: Broadcom / LSI PEX890xx PCIe Gen 5 Switch [1000:c030] (rev b0)
	Bus: primary=02, secondary=04, subordinate=04, sec-latency=0
	Capabilities: [68] Express (v2) Downstream Port (Slot+), MSI 00
		LnkCap:	Port #1, Speed 32GT/s, Width x16
		LnkSta:	Speed 16GT/s (downgraded), Width x8 (downgraded)
	Capabilities: [170 v1] Access Control Services
		ACSCtl:	SrcValid+ TransBlk- ReqRedir- CmpltRedir- UpstreamFwd+ EgressCtrl- DirectTrans-

03:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 PCIe] [10de:2331] (rev a1)
	Physical Slot: 5
	NUMA node: 0
	IOMMU group: 11
	Capabilities: [60] Express (v2) Endpoint, MSI 00
			RlxdOrd+ ExtTag+ PhantFunc- AuxPwr- NoSnoop+ FLReset-
			MaxPayload 256 bytes, MaxReadReq 512 bytes
		LnkCap:	Port #0, Speed 32GT/s, Width x16
		LnkSta:	Speed 2.5GT/s (downgraded), Width x16
	Kernel driver in use: nvidia

04:00.0 Infiniband controller [0207]: Mellanox Technologies MT2910 Family [ConnectX-7] [15b3:1021]
	NUMA node: 0
	Capabilities: [60] Express (v2) Endpoint, MSI 00
		LnkCap:	Port #0, Speed 32GT/s, Width x16
		LnkSta:	Speed 16GT/s (downgraded), Width x8 (downgraded)
	Kernel driver in use: mlx5_core

80:00.0 Host bridge [0600]: Advanced Micro Devices, Inc. [AMD] Device [1022:153a]
	NUMA node: 1

80:03.1 PCI bridge [0604]: Advanced Micro Devices, Inc. [AMD] Device [1022:153d]
	NUMA node: 1
	Bus: primary=80, secondary=81, subordinate=81, sec-latency=0

81:00.0 Non-Volatile memory controller [0108]: Samsung Electronics Co Ltd NVMe SSD Controller PM173X [144d:a824]
	NUMA node: 1
	Capabilities: [70] Express (v2) Endpoint, MSI 00
		LnkCap:	Port #0, Speed 16GT/s, Width x4
		LnkSta:	Speed 16GT/s, Width x4
)";

HostFacts facts_of(std::string const& text) { return read_lspci(SourceText::from_memory("lspci.txt", text)); }

PciFacts const& at(HostFacts const& facts, std::string_view bdf) {
  for (auto const& function : facts.pci)
    if (function.bdf == bdf) return function;
  throw std::runtime_error("no " + std::string(bdf));
}

class Lspci : public testing::Test {
 protected:
  Machine machine_of_text(std::string const& text) {
    auto machine = machine_of(facts_of(text), "server", std::nullopt, catalogue_);
    expect_reads_back(machine, catalogue_);
    return machine;
  }
  Catalogue catalogue_ = bundled();
};

TEST_F(Lspci, ReadsEveryFactOfAFunction) {
  auto const facts = facts_of(kServer);
  auto const& gpu = at(facts, "0000:03:00.0");
  EXPECT_EQ(gpu.id, "10de:2331");
  EXPECT_EQ(gpu.class_code, 0x030200U);
  EXPECT_EQ(gpu.above, "0000:02:00.0");
  EXPECT_EQ(gpu.root_bus, "0000:00");
  EXPECT_EQ(gpu.numa, 0);
  EXPECT_EQ(gpu.iommu_group, "11");
  EXPECT_EQ(gpu.slot, "5");
  EXPECT_EQ(gpu.driver, "nvidia");
  EXPECT_EQ(gpu.config.port_type, PortType::Endpoint);
  EXPECT_EQ(gpu.config.link, (PcieLink{1, 16}));
  EXPECT_EQ(gpu.config.max_link, (PcieLink{5, 16}));
  EXPECT_EQ(gpu.config.max_payload, Bytes(256));
  EXPECT_EQ(gpu.config.max_read_request, Bytes(512));
  EXPECT_EQ(gpu.config.relaxed_ordering, true);
  EXPECT_EQ(gpu.config.tags, 256);
  auto const& port = at(facts, "0000:00:01.1");
  EXPECT_EQ(port.config.acs, AcsControl::on());
  EXPECT_EQ(port.config.port_type, PortType::RootPort);
  EXPECT_EQ(facts.cpu.cpuid, "AuthenticAMD/26/2");
  EXPECT_EQ(facts.cpu.nodes.size(), 2U);
}

TEST_F(Lspci, MakesTheTreeWithItsLinksAndAcs) {
  auto const machine = machine_of_text(kServer);
  auto const& gpu = function(machine, "gpu0");
  auto const& nic = function(machine, "nic0");
  auto const& sw = function(machine, "sw0");
  EXPECT_EQ(machine.at(*gpu.parent).name, "sw0");
  EXPECT_EQ(machine.at(*nic.parent).name, "sw0");
  EXPECT_EQ(machine.at(*gpu.part).name, "h100-pcie-80g");
  EXPECT_EQ(machine.at(*nic.part).name, "connectx-7-ndr");
  EXPECT_EQ(machine.at(*sw.part).name, "pex89144");
  EXPECT_EQ(gpu.link, (PcieLink{5, 16}));  // an idle GPU trains down to gen1
  EXPECT_EQ(nic.link, (PcieLink{4, 8}));   // a slower link of another device is what it is
  EXPECT_EQ(nic.max_link, (PcieLink{5, 16}));
  EXPECT_EQ(sw.acs, AcsControl::on());
  EXPECT_EQ(machine.sockets.size(), 2U);
  EXPECT_EQ(machine.at(machine.at(function(machine, "nvme0").host_bridge).socket).name, "cpu1");
  EXPECT_THAT(machine.notes,
              Contains(HasSubstr("as that of an idle GPU; the speed that it is capable of is taken for gpu0")));
}

TEST_F(Lspci, ReadsADrawingAlone) {
  auto const machine = machine_of_text(
      "-+-[0000:80]-+-00.0  Intel Corporation Device 09a2\n"
      " |           \\-02.0-[81]----00.0  Samsung Electronics Co Ltd NVMe SSD Controller PM173X\n"
      " \\-[0000:00]-+-00.0  Intel Corporation Device 09a2\n"
      "             \\-01.0-[01-04]----00.0-[02-04]--+-00.0-[03]----00.0  NVIDIA Corporation GH100 [H100 PCIe]\n"
      "                                             \\-01.0-[04]--+-00.0  Mellanox Technologies MT2910 Family "
      "[ConnectX-7]\n"
      "                                                          \\-00.1  Mellanox Technologies MT2910 Family "
      "[ConnectX-7]\n");
  auto const& gpu = function(machine, "gpu0");
  auto const& nic = function(machine, "nic0");
  EXPECT_EQ(gpu.bdf, "0000:03:00.0");
  EXPECT_EQ(nic.bdf, "0000:04:00.0");
  EXPECT_EQ(machine.at(*gpu.parent).name, "sw0");
  EXPECT_EQ(machine.at(*nic.parent).name, "sw0");
  EXPECT_EQ(machine.at(*gpu.part).name, "h100-pcie-80g");
  EXPECT_EQ(function(machine, "nvme0").bdf, "0000:81:00.0");
  EXPECT_THAT(machine.notes, Contains(HasSubstr("run without -vvv")));
}

// hwloc gives domains without an address this number.
TEST_F(Lspci, AnOddBusWithoutAddressReadsBack) {
  auto const machine = machine_of_text(
      "-+-[0000:80]-+-00.0  Intel Corporation Device 09a2\n"
      " \\-[fffffff0:hbities: [2a0 v1]----00.0  NVIDIA Corporation GH100 [H100 PCIe]\n");
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 1U);
}

TEST_F(Lspci, WithoutRootSaysWhatIsMissing) {
  auto const machine = machine_of_text(
      "00:00.0 Host bridge: Intel Corporation Device 09a2\n"
      "00:01.0 PCI bridge: Intel Corporation Device 347a\n\tBus: primary=00, secondary=01, subordinate=01\n"
      "\tCapabilities: <access denied>\n"
      "01:00.0 3D controller: NVIDIA Corporation Device 2331 (rev a1)\n\tCapabilities: <access denied>\n");
  auto const& gpu = function(machine, "gpu0");
  EXPECT_FALSE(gpu.link.has_value());
  EXPECT_EQ(machine.at(*gpu.part).name, "h100-pcie-80g");
  EXPECT_FALSE(machine.hosts.front().settings.acs.known);
  EXPECT_THAT(machine.notes, Contains(HasSubstr("lspci was not run by root")));
}

TEST_F(Lspci, WithoutBridgesEveryDeviceGetsARootPort) {
  auto const machine = machine_of_text(
      "17:00.0 3D controller: NVIDIA Corporation Device 2331 (rev a1)\n"
      "ca:00.0 3D controller: NVIDIA Corporation Device 2331 (rev a1)\n");
  EXPECT_EQ(machine.at(*function(machine, "gpu0").parent).kind, PciKind::RootPort);
  EXPECT_NE(function(machine, "gpu0").parent, function(machine, "gpu1").parent);
  EXPECT_FALSE(machine.hosts.front().settings.virtualization.passthrough);
  EXPECT_THAT(machine.notes, Contains(HasSubstr("inferred: lspci does not say what they hang from")));
}

TEST_F(Lspci, AGuestIsOne) {
  auto const machine = machine_of_text(
      "00:00.0 Host bridge: Intel Corporation 440FX - 82441FX PMC [Natoma] (rev 02)\n"
      "00:05.0 3D controller: NVIDIA Corporation Device 2331 (rev a1)\n");
  EXPECT_TRUE(machine.hosts.front().settings.virtualization.passthrough);
  EXPECT_EQ(machine.hosts.front().settings.virtualization.hypervisor, "kvm");
}

TEST_F(Lspci, ReadsDomainsQuotesNumbersAndBytes) {
  auto const quoted = facts_of("> 10001:02:00.0 0108: 144d:a824 (rev 01)\n> \tNUMA node: 1\n");
  EXPECT_EQ(quoted.pci.front().bdf, "10001:02:00.0");
  EXPECT_EQ(quoted.pci.front().id, "144d:a824");
  EXPECT_EQ(quoted.pci.front().numa, 1);
  auto const bytes = facts_of(
      "00:01.0 PCI bridge: Foo\n00: 86 80 02 2f 47 05 10 00 02 00 04 06 10 00 81 00\n"
      "10: 00 00 00 00 00 00 00 00 00 05 07 00 f0 00 00 20\n20: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
      "30: 00 00 00 00 40 00 00 00 00 00 00 00 ff 00 03 00\n05:00.0 3D controller: NVIDIA Corporation Device 2331\n");
  EXPECT_EQ(at(bytes, "0000:00:01.0").id, "8086:2f02");
  EXPECT_EQ(at(bytes, "0000:05:00.0").above, "0000:00:01.0");
}

TEST_F(Lspci, RefusesTextWithoutFunctions) {
  EXPECT_THROW(facts_of("no such thing\n"), InputError);
  EXPECT_EQ(recognise_lspci("no such thing\n"), Likeness::None);
  EXPECT_EQ(recognise_lspci(kServer), Likeness::Certain);
}

// Bridges that claim one another's buses must not send the reader round in a circle.
TEST_F(Lspci, BridgesInACircleEnd) {
  auto const machine = machine_of_text(
      "01:00.0 PCI bridge: Foo\n\tBus: primary=01, secondary=02, subordinate=02\n"
      "02:00.0 PCI bridge: Foo\n\tBus: primary=02, secondary=01, subordinate=01\n"
      "02:01.0 3D controller: NVIDIA Corporation Device 2331\n");
  EXPECT_THAT(machine.name, "server");
}

}  // namespace
}  // namespace lanewise
