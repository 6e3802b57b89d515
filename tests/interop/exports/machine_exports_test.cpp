// Machines in other tools' formats, read back by our own readers.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "core/interop/exports/hwloc.hpp"
#include "core/interop/exports/nvml_mock/mock_system.hpp"
#include "core/interop/exports/pci_layout.hpp"
#include "core/interop/formats/formats.hpp"
#include "core/interop/host/files/hwloc.hpp"
#include "core/interop/host/host_machine.hpp"
#include "core/machine/path_class.hpp"
#include "lanewise/io/error.hpp"
#include "tests/interop/import_test_support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using testing::HasSubstr;

TEST(PciLayout, KeepsKnownAddressesAndInventsTheOthersOnce) {
  auto catalogue = bundled();
  for (auto const* name : {"hgx-h100", "a100x4-pcie-dual-socket", "rtx6000pro-x16-4root", "h200x4-vm", "dgx-2"}) {
    auto const machine = catalogue.machine(name);
    auto const layout = pci_layout(machine);
    std::set<std::string> seen;
    for (auto const& entry : layout.functions) {
      EXPECT_TRUE(seen.insert(entry.bdf).second) << name << " " << entry.bdf;
      auto const& function = machine.at(entry.function);
      bool const known = entry.port == ExportedPort::Endpoint && !function.bdf.empty();
      EXPECT_EQ(entry.bdf, known ? function.bdf : entry.bdf);
    }
    for (auto const gpu : machine.all(PciKind::Gpu)) EXPECT_FALSE(address_of(layout, gpu).empty());
  }
  EXPECT_THROW(pci_layout(catalogue.machine("hgx-h100-2")), PlanError);
}

TEST(HwlocExport, OurImportReadsItBack) {
  auto catalogue = bundled();
  for (auto const* name : {"hgx-h100", "dgx-1-v100", "dgx-a100", "a100x8-pcie-4sw"}) {
    auto const machine = catalogue.machine(name);
    auto const source = SourceText::from_memory("x.xml", hwloc_xml(machine));
    EXPECT_EQ(recognise_format(source.text())->name, "hwloc");
    auto const back = machine_of(read_hwloc(source), "back", std::nullopt, catalogue);
    EXPECT_EQ(back.sockets.size(), machine.sockets.size()) << name;
    EXPECT_EQ(back.numa_nodes.size(), machine.numa_nodes.size()) << name;
    for (auto const kind : {PciKind::Gpu, PciKind::Nic})
      EXPECT_EQ(back.all(kind).size(), machine.all(kind).size()) << name << " " << to_string(kind);
    auto const gpus = machine.all(PciKind::Gpu);
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      auto const found = back.all(PciKind::Gpu)[i];
      EXPECT_EQ(back.at(back.numa_of(found)).os_index, machine.at(machine.numa_of(gpus[i])).os_index) << name;
      auto const& link = machine.at(gpus[i]).link;
      EXPECT_EQ(back.at(found).link, link ? link : assumed_link(machine, gpus[i])) << name;
    }
    EXPECT_EQ(back.nvlinks.size(), machine.nvlinks.size()) << name;
    EXPECT_EQ(back.nvswitches.size(), machine.nvswitches.size()) << name;
  }
}

std::string content(std::vector<MockFile> const& files, std::string const& end) {
  for (auto const& file : files)
    if (file.path.ends_with(end)) return file.content;
  return "no such file";
}

TEST(NvmlMock, ConfigurationAsTheMockReadsIt) {
  auto catalogue = bundled();
  auto const json = nlohmann::json::parse(mock_nvml_config(catalogue.machine("dgx-a100")));
  EXPECT_EQ(json.at("version"), "1.0") << "a text, not a number";
  EXPECT_EQ(json.at("system").at("num_devices"), 8);
  EXPECT_EQ(json.at("device_defaults").at("architecture"), "ampere");
  EXPECT_EQ(json.at("devices").at(3).at("pcie").at("max_link_gen"), 4);
  EXPECT_EQ(json.at("nvlink").at("links_per_gpu"), 12);
  EXPECT_EQ(json.at("nvlink").at("device_links").at(7).at("links").at(11).at("remote_device_type"), "switch");
  auto const direct = nlohmann::json::parse(mock_nvml_config(catalogue.machine("dgx-1-v100")));
  EXPECT_EQ(direct.at("nvlink").at("device_links").at(0).at("links").size(), 6U);
  EXPECT_EQ(direct.at("nvlink").at("device_links").at(0).at("links").at(0).at("remote_device_type"), "gpu");
  EXPECT_EQ(direct.at("pcie_topology").at("root_complexes").at(0).at("numa_node"), 0);
}

TEST(NvmlMock, SysfsHasTheFilesOfTheKernel) {
  auto catalogue = bundled();
  auto const files = mock_sysfs(catalogue.machine("a100x4-pcie-dual-socket"));
  EXPECT_EQ(content(files, "0000:18:00.0/class"), "0x030200\n");
  EXPECT_EQ(content(files, "0000:18:00.0/current_link_speed"), "8.0 GT/s PCIe\n");
  EXPECT_EQ(content(files, "0000:18:00.0/current_link_width"), "16\n");
  EXPECT_EQ(content(files, "0000:18:00.0/config").size(), 4096U);
  EXPECT_EQ(content(files, "iommu_groups/0/type"), "identity\n");
  EXPECT_EQ(content(files, "devices/0000:86:00.0").substr(0, 18), "../../../devices/p");
}

TEST(NvmlMock, AFolderWithFilesIsLeftAlone) {
  test::TemporaryFolder const folder;
  (void)folder.with("kept.txt", "kept");
  EXPECT_THROW(write_mock_files(folder.path(), {{"config.yaml", "x", MockFile::Kind::Text}}), InputError);
  write_mock_files(folder.path() / "new", {{"a/config.yaml", "x", MockFile::Kind::Text}});
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "new/a/config.yaml"));
}

}  // namespace
}  // namespace lanewise
