// What the drivers say is given as facts: against the rules, against the tree, and for what sysfs cannot show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/view/machine/topo.hpp"
#include "hw/discover/discovery.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise::hw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto* kFirst = "0000:00:06.0";
constexpr auto* kSecond = "0000:00:07.0";

NvmlPair pair_of(std::string from, std::string to, PeerStatus status) {
  NvmlPair pair;
  pair.from = std::move(from);
  pair.to = std::move(to);
  pair.status.fill(status);
  pair.ancestor = PathClass::Phb;
  return pair;
}

// Two H200 of a flat virtual machine, as NVML and CUDA see them; `remote` is what NVML says at the end of each NVLink.
HostFacts two_h200(NvlinkRemote remote, PeerStatus status = PeerStatus::Ok) {
  HostFacts facts;
  facts.cpu = {"GenuineIntel/6/207", "Intel(R) Xeon(R) Processor", true, {{0, "0-31", {0}}}};
  facts.platform.hypervisor = "firecracker";
  facts.nvml.probe = facts.cuda.probe = {true, true, ""};
  for (auto const* bdf : {kFirst, kSecond}) {
    PciFacts function;
    function.bdf = bdf;
    function.root_bus = "0000:00";
    function.class_code = 0x030200;
    function.id = "10de:2335";
    facts.pci.push_back(function);
    NvmlGpu gpu;
    gpu.bdf = bdf;
    gpu.id = "10de:2335";
    for (int link = 0; link < 18; ++link) gpu.links.push_back({link, remote, "ffff:ff:1f.0", 6, {}});
    facts.nvml.gpus.push_back(gpu);
    CudaGpu cuda;
    cuda.bdf = bdf;
    cuda.compute_capability = "9.0";
    cuda.multiprocessors = 132;
    cuda.copy_engines = 3;
    cuda.dma_buf = true;
    facts.cuda.gpus.push_back(cuda);
  }
  facts.nvml.pairs = {pair_of(kFirst, kSecond, status), pair_of(kSecond, kFirst, status)};
  bool const access = status == PeerStatus::Ok;
  facts.cuda.pairs = {{kFirst, kSecond, access, access, 0}, {kSecond, kFirst, access, access, 0}};
  return facts;
}

Discovery found_in(HostFacts facts) {
  auto catalogue = bundled();
  Discovery found;
  found.machine = machine_of(facts, "vm", std::nullopt, catalogue);
  expect_reads_back(found.machine, catalogue);
  found.findings = findings_of(found.machine, facts);
  found.facts = std::move(facts);
  return found;
}

TEST(Findings, NvswitchesThatAGuestDoesNotSee) {
  auto const found = found_in(two_h200(NvlinkRemote::Switch));
  ASSERT_THAT(found.machine.nvswitches, SizeIs(1));
  EXPECT_THAT(found.machine.nvswitches[0].ports, SizeIs(2));
  EXPECT_EQ(found.machine.nvswitches[0].ports[1].count, 18);
  EXPECT_EQ(found.machine.at(found.machine.nvswitches[0].part).name, "nvswitch-3");
  EXPECT_THAT(topo_matrix(found.machine), HasSubstr("GPU0\t X \tNV18\t0-31\t0"));
  EXPECT_TRUE(found.machine.hosts[0].software.dma_buf);
  EXPECT_THAT(found.findings, IsEmpty()) << found.findings[0].text;
}

TEST(Findings, WhereNvmlDoesNotSayWhatALinkLeadsToReachTells) {
  auto const found = found_in(two_h200(NvlinkRemote::Unknown));
  EXPECT_THAT(found.machine.nvswitches, SizeIs(1));
  EXPECT_THAT(found.machine.notes, has_note("inferred: NVSwitches, for NVML does not say"));

  auto const unreachable = found_in(two_h200(NvlinkRemote::Unknown, PeerStatus::NotSupported));
  EXPECT_THAT(unreachable.machine.nvswitches, IsEmpty());
  EXPECT_THAT(unreachable.machine.notes, has_note("are left out: 18 of gpu0, 18 of gpu1"));
}

TEST(Findings, NvlinksBetweenGpusCountOnce) {
  auto facts = two_h200(NvlinkRemote::Gpu);
  for (auto& link : facts.nvml.gpus[0].links) link.remote_bdf = kSecond;
  for (auto& link : facts.nvml.gpus[1].links) link.remote_bdf = kFirst;
  facts.nvml.gpus[1].links.pop_back();
  auto const found = found_in(std::move(facts));
  ASSERT_THAT(found.machine.nvlinks, SizeIs(1));
  EXPECT_EQ(found.machine.nvlinks[0].count, 17);
  EXPECT_THAT(found.machine.notes, has_note("different numbers of NVLinks to each other"));
}

TEST(Findings, TheDriverRefusesWhatTheRulesAllow) {
  auto const found = found_in(two_h200(NvlinkRemote::Switch, PeerStatus::ChipsetNotSupported));
  ASSERT_THAT(found.findings, SizeIs(4)) << "read, write, nvlink, atomics; both pairs in one";
  EXPECT_EQ(found.findings[1].kind, FindingKind::PeerStatus);
  EXPECT_THAT(found.findings[1].subjects, ElementsAre("gpu0 > gpu1", "gpu1 > gpu0"));
  EXPECT_EQ(found.findings[1].text,
            "write: the driver says CNS (chipset not supported), the rules say nvlink is legal");
}

TEST(Findings, TheDriverAllowsWhatARuleRefuses) {
  auto facts = two_h200(NvlinkRemote::Switch);
  for (auto& gpu : facts.nvml.gpus) gpu.links.clear();
  for (auto& pair : facts.nvml.pairs) {
    pair.status.fill(PeerStatus::NotSupported);
    pair.status[static_cast<std::size_t>(PeerOp::Write)] = PeerStatus::Ok;
    pair.status[static_cast<std::size_t>(PeerOp::Read)] = PeerStatus::Ok;
  }
  auto const found = found_in(std::move(facts));
  ASSERT_THAT(found.findings, SizeIs(2));
  EXPECT_EQ(found.findings[1].text, "write: the driver says OK, rule P2P-GUEST refuses it");
  EXPECT_EQ(found.findings[1].rule, "P2P-GUEST");
}

TEST(Findings, DistancesCudaAndFiguresThatDiffer) {
  auto facts = two_h200(NvlinkRemote::Switch);
  facts.nvml.pairs[0].ancestor = PathClass::Sys;
  facts.cuda.pairs[1].access = false;
  facts.cuda.gpus[0].multiprocessors = 78;
  facts.cuda.gpus.pop_back();
  auto const found = found_in(std::move(facts));
  std::vector<std::string> lines;
  for (auto const& finding : found.findings) lines.push_back(finding.subjects[0] + ": " + finding.text);
  EXPECT_THAT(lines, ElementsAre("gpu0 > gpu1: the driver says SYS, the machine PHB",
                                 "gpu1 > gpu0: CUDA refuses peer access, NVML says OK for reads and OK for writes",
                                 "gpu0: the driver counts 78 multiprocessors, its part 'h200-sxm5-141g' has 132",
                                 "gpu1: the system has it, CUDA does not list it (CUDA_VISIBLE_DEVICES hides GPUs)"));
}

TEST(Findings, AGpuThatOnlyItsDriverShowsIsOnTheRootBus) {
  auto facts = two_h200(NvlinkRemote::Switch);
  facts.pci.clear();
  auto const found = found_in(std::move(facts));
  EXPECT_EQ(part_of(found.machine, "gpu1"), "h200-sxm5-141g");
  EXPECT_THAT(found.machine.notes, has_note("NVML has a GPU at 0000:00:06.0 which is no PCI function of the system"));
}

TEST(Findings, AProductThatTheCatalogueLacksIsWhatItsDriversSay) {
  auto facts = two_h200(NvlinkRemote::Switch);
  for (auto& function : facts.pci) function.id = "10de:fffe";
  for (auto& cuda : facts.cuda.gpus) cuda.memory = Bytes(std::int64_t{1} << 36);
  auto const found = found_in(std::move(facts));
  auto const& part = found.machine.at(*function(found.machine, "gpu0").part);
  EXPECT_EQ(part.name, "gpu-10de-fffe");
  EXPECT_TRUE(part.inlined);
  EXPECT_EQ(part.gpu.multiprocessors, 132);
  EXPECT_EQ(part.gpu.copy_engines, 3);
  EXPECT_EQ(part.gpu.nvlink_generation, 4) << "of compute capability 9.0";
}

TEST(Findings, AFabricThatIsNotStartedAndAMigGpuAreSaid) {
  auto facts = two_h200(NvlinkRemote::Switch);
  facts.nvml.gpus[0].fabric = FabricState::InProgress;
  facts.nvml.gpus[1].mig = true;
  auto const found = found_in(std::move(facts));
  EXPECT_FALSE(found.machine.hosts[0].software.fabric_manager);
  EXPECT_TRUE(function(found.machine, "gpu1").mig);
}

TEST(Findings, TheTableOfNvidiaSmiIsCompared) {
  auto const found = found_in(two_h200(NvlinkRemote::Switch));
  auto const against = [&](std::string const& table) {
    return findings_against(found.machine, read_topo_matrix(SourceText::from_memory("topo.txt", table)));
  };
  EXPECT_THAT(against("\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
                      "GPU0\t X \tNV18\t0-31\t0\t\tN/A\nGPU1\tNV18\t X \t0-31\t0\t\tN/A\n"),
              IsEmpty());
  EXPECT_THAT(against(topo_matrix(found.machine)), IsEmpty()) << "our own table is the same";
  auto const differs = against(
      "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tSYS\t0-15\t1\n"
      "GPU1\tSYS\t X \t0-31\t0\n");
  ASSERT_THAT(differs, SizeIs(3));
  EXPECT_EQ(differs[0].text, "nvidia-smi says NUMA node 1, the machine 0");
  EXPECT_EQ(differs[1].text, "nvidia-smi says cores 0-15, the machine 0-31");
  EXPECT_EQ(differs[2].text, "nvidia-smi says SYS, the machine NV18");
}

TEST(Findings, JsonHoldsTheMachineTheFindingsAndWhatWasSeen) {
  auto const json = discovery_json(found_in(two_h200(NvlinkRemote::Switch, PeerStatus::GpuNotSupported)));
  EXPECT_EQ(json.at("lanewise"), "discovery/1");
  EXPECT_EQ(json.at("machine").at("lanewise"), "machine/1");
  EXPECT_EQ(json.at("findings").at(0).at("kind"), "peer_status");
  EXPECT_EQ(json.at("observed").at("nvml").at("pairs").at(0).at("write"), "GNS");
}

}  // namespace
}  // namespace lanewise::hw
