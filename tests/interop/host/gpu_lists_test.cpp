// Tests facts and machines from what nvidia-smi and rocm-smi say about GPUs alone.
#include <fmt/format.h>

#include "core/interop/host/files/nvidia_smi.hpp"
#include "core/interop/host/files/rocm_topology.hpp"
#include "core/interop/host/host_machine.hpp"
#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;

std::string smi_gpu(std::string const& bus, std::string const& fabric) {
  return "<gpu id=\"00000000:" + bus + R"(:00.0"><product_name>NVIDIA H100 80GB HBM3</product_name>
  <mig_mode><current_mig>Enabled</current_mig></mig_mode><uuid>GPU-12345678-1234-1234-1234-123456789abc</uuid>
  <pci><pci_device_id>233010DE</pci_device_id><pci_bus_id>00000000:)" +
         bus + R"(:00.0</pci_bus_id><pci_gpu_link_info>
   <pcie_gen><max_link_gen>5</max_link_gen><current_link_gen>1</current_link_gen></pcie_gen>
   <link_widths><max_link_width>16x</max_link_width><current_link_width>16x</current_link_width></link_widths></pci_gpu_link_info></pci>
  <fb_memory_usage><total>81559 MiB</total></fb_memory_usage><fabric><state>)" +
         fabric + "</state></fabric></gpu>\n";
}
std::string smi_log(std::string const& gpus) {
  return "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n"
         "<driver_version>550.54.15</driver_version>\n" +
         gpus + "</nvidia_smi_log>\n";
}
Machine machine_from(HostFacts const& facts) {
  auto catalogue = bundled();
  auto machine = machine_of(facts, "host", std::nullopt, catalogue);
  expect_reads_back(machine, catalogue);
  return machine;
}
HostFacts smi(std::string const& text) { return read_nvidia_smi(SourceText::from_memory("smi.xml", text)); }
HostFacts rocm(std::string const& text) { return read_rocm_topology(SourceText::from_memory("rocm.txt", text)); }

TEST(NvidiaSmi, ReadsGpusWithTheirLinksAndModes) {
  auto const facts = smi(smi_log(smi_gpu("3B", "N/A") + smi_gpu("B2", "N/A")));
  ASSERT_EQ(facts.nvml.gpus.size(), 2U);
  auto const& gpu = facts.nvml.gpus.front();
  EXPECT_EQ(gpu.bdf, "0000:3b:00.0");
  EXPECT_EQ(gpu.id, "10de:2330");
  EXPECT_EQ(gpu.link, (PcieLink{1, 16}));
  EXPECT_EQ(gpu.max_link, (PcieLink{5, 16}));
  EXPECT_EQ(gpu.memory, Bytes(81559LL << 20U));
  auto const machine = machine_from(facts);
  EXPECT_EQ(part_of(machine, "gpu1"), "h100-sxm5-80g");
  EXPECT_EQ(function(machine, "gpu0").link, (PcieLink{5, 16}));
  EXPECT_TRUE(function(machine, "gpu0").mig);
  EXPECT_NE(parent_of(machine, "gpu0"), parent_of(machine, "gpu1"));
  EXPECT_EQ(machine.nvswitches.size(), 1U);
  EXPECT_THAT(machine.notes, has_note("inferred: 18 NVLinks of each GPU to NVSwitches, as 'h100-sxm5-80g' has them"));
  EXPECT_THAT(machine.notes, has_note("shows GPUs alone"));
}

TEST(NvidiaSmi, AReadyFabricMeansNvSwitches) {
  auto const machine = machine_from(smi(smi_log(smi_gpu("3B", "Completed") + smi_gpu("B2", "Completed"))));
  ASSERT_EQ(machine.nvswitches.size(), 1U);
  EXPECT_EQ(machine.nvswitches.front().ports.front().count, 18);
  EXPECT_THAT(machine.notes, has_note("the fabric is ready"));
}

TEST(NvidiaSmi, OddValuesCostThemselves) {
  auto const facts = smi("$ nvidia-smi -q -x\n" + smi_log("<gpu id=\"?\"/>" + smi_gpu("3B", "?") + smi_gpu("3B", "?")));
  EXPECT_EQ(facts.nvml.gpus.size(), 1U);
  EXPECT_THAT(facts.notes, has_note("without a bus id of its own"));
  EXPECT_THROW(smi("<nvidia_smi_log>"), InputError);
  EXPECT_THROW(smi("<system/>"), InputError);
}

TEST(NvidiaSmi, ALongNameIsCutBetweenCharacters) {
  std::string name(127, 'x');
  auto gpu = smi_gpu("3B", "N/A");
  gpu.replace(gpu.find("NVIDIA H100"), 11, name + "\xC3\xA9");
  EXPECT_EQ(smi(smi_log(gpu)).nvml.gpus.at(0).name, name);
}

TEST(NvidiaSmi, ReferencesNameCharacters) {
  auto const named = [](std::string const& reference) {
    auto gpu = smi_gpu("3B", "N/A");
    gpu.replace(gpu.find("NVIDIA H100"), 11, reference);
    return smi(smi_log(gpu)).nvml.gpus.at(0).name;
  };
  EXPECT_EQ(named("&#233; &#x1F5A5; &#; &amp;"), "\xC3\xA9 \xF0\x9F\x96\xA5 &#; & 80GB HBM3");
  for (auto const* none : {"&#xD800;", "&#x110000;", "&#0;", "&#99999999999;"})
    EXPECT_THAT(error_of([&] { named(none); }),
                HasSubstr("smi.xml:5:42: error: not valid XML: this reference names no"));
}

constexpr auto* kShowTopo = R"(======================= ROCm System Management Interface =======================
============================ Hops between two GPUs =============================
       GPU0         GPU1         GPU2
GPU0   0            1            2
GPU1   1            0            2
GPU2   2            2            0

========================== Link Type between two GPUs ==========================
       GPU0         GPU1         GPU2
GPU0   0            XGMI         PCIE
GPU1   XGMI         0            PCIE
GPU2   PCIE         PCIE         0

================================== Numa Nodes ==================================
GPU[0]		: (Topology) Numa Node: 0
GPU[0]		: (Topology) Numa Affinity: 0
GPU[1]		: (Topology) Numa Node: 0
GPU[2]		: (Topology) Numa Node: 1
)";

TEST(RocmTopology, ReadsTheTablesOfRocmSmi) {
  auto facts = rocm(kShowTopo);
  facts.gpu_part = "amd-mi300x";
  auto const machine = machine_from(facts);
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 3U);
  EXPECT_EQ(machine.sockets.size(), 2U);
  EXPECT_EQ(part_of(machine, "gpu2"), "amd-mi300x");
  EXPECT_EQ(function(machine, "gpu0").bdf, "");
  ASSERT_EQ(machine.nvlinks.size(), 1U);
  EXPECT_EQ(machine.at(machine.nvlinks.front().part).name, "xgmi-gpu-mi300x");
}

TEST(RocmTopology, ReadsMarkdownAndJson) {
  auto const markdown = rocm(
      "**Link Type between two GPUs**\n| | GPU0 | GPU1 |\n|---|---|---|\n| **GPU0** | 0 | XGMI |\n| **GPU1** | XGMI | "
      "0 |\n");
  EXPECT_EQ(markdown.xgmi.size(), 1U);
  auto const json = rocm(R"({"system": {"(Topology) Hops between DRM devices 0 and 1": "1",
 "(Topology) Link type between DRM devices 0 and 1": "XGMI"}, "card1": {"(Topology) Numa Node": "1"}})");
  EXPECT_EQ(json.xgmi.size(), 1U);
  EXPECT_EQ(json.pci.at(1).numa, 1);
  auto const amd = rocm(R"([{"gpu": 0, "bdf": "0000:05:00.0", "links": [
 {"gpu": 0, "bdf": "0000:05:00.0", "link_type": "SELF", "num_hops": 0},
 {"gpu": 1, "bdf": "0000:26:00.0", "link_type": "XGMI", "num_hops": 1}]}])");
  EXPECT_EQ(amd.pci.at(1).bdf, "0000:26:00.0");
  EXPECT_EQ(amd.xgmi.size(), 1U);
}

TEST(RocmTopology, ReadsTheTablesOfAmdSmi) {
  auto const facts = rocm(
      "LINK TYPE TABLE:\n             0000:05:00.0 0000:26:00.0\n0000:05:00.0 SELF         XGMI\n0000:26:00.0 XGMI    "
      "SELF\n"
      "HOPS TABLE:\n             0000:05:00.0 0000:26:00.0\n0000:05:00.0 0            1\n0000:26:00.0 1            "
      "0\n");
  ASSERT_EQ(facts.xgmi.size(), 1U);
  EXPECT_EQ(facts.xgmi.front().hops, 1);
  EXPECT_EQ(facts.xgmi.front().b, "0000:26:00.0");
}

TEST(RocmTopology, OneAddressIsNotThatOfTwoGpus) {
  auto facts = rocm(kShowTopo);
  facts.pci.push_back(facts.pci.front());
  EXPECT_THROW(machine_from(facts), InputError);
}

TEST(RocmTopology, WhatIsNoAddressIsNoGpu) {
  auto const facts = rocm(R"([{"bdf": "0000:05:00.0", "links": [{"bdf": "0000:26:00.0", "link_type": "XGMI"},
 {"bdf": "?", "link_type": "PCIE"}]}])");
  EXPECT_EQ(facts.pci.size(), 2U);
}

TEST(RocmTopology, NumaNodesAloneAreEnough) {
  std::string const text =
      "======= Numa Nodes =======\nGPU[0]\t\t: (Topology) Numa Node: 0\nGPU[0]\t\t: (Topology) Numa Affinity: 0\n"
      "GPU 1          : (Topology) Numa Node: 1\nGPU 1          : (Topology) Numa Affinity: 1\n";
  EXPECT_EQ(recognise_rocm_topology(text), Likeness::Likely);
  auto const machine = machine_from(rocm(text));
  EXPECT_EQ(machine.all(PciKind::Gpu).size(), 2U);
  EXPECT_EQ(machine.sockets.size(), 2U);
  EXPECT_THAT(machine.notes, has_note("missing: how the GPUs are linked; 'rocm-smi --showtopo' prints it"));
}

// Found by fuzzing: a node 200 made 201 sockets, each linked with each.
TEST(RocmTopology, AHighNodeNumberIsOneNode) {
  auto const nodes_of = [](int node) {
    return machine_from(rocm(fmt::format("======= Numa Nodes =======\nGPU[0] : (Topology) Numa Node: 0\n"
                                         "GPU[1] : (Topology) Numa Node: {}\n",
                                         node)))
        .numa_nodes.size();
  };
  EXPECT_EQ(nodes_of(200), 2U);
  EXPECT_EQ(nodes_of(3), 4U);
}

TEST(RocmTopology, RefusesTextWithoutTables) {
  EXPECT_THROW(rocm("GPU0 GPU1\n"), InputError);
  EXPECT_THROW(rocm("{\"a\": 1}"), InputError);
  EXPECT_EQ(recognise_rocm_topology(kShowTopo), Likeness::Certain);
}

}  // namespace
}  // namespace lanewise
