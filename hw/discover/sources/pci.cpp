// The PCI tree, from sysfs.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "core/interop/machines/roles.hpp"
#include "hw/discover/sources/sources.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise::hw {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kConfigBytes = 4096;
constexpr std::size_t kMaxFunctions = 16'384;
constexpr int kBars = 6;

// "16.0 GT/s PCIe" and "16": Linux drivers/pci/pci-sysfs.c. Width 0 or "Unknown" means that there is no link.
std::optional<PcieLink> link_of(Sysfs const& sysfs, fs::path const& folder, std::string_view which) {
  auto const speed = sysfs.text(folder / fmt::format("{}_link_speed", which));
  auto const width = sysfs.number(folder / fmt::format("{}_link_width", which));
  if (!speed || !width || *width < 1 || *width > 32) return std::nullopt;
  return parse_pcie_link(fmt::format("{} GT/s x{}", speed->substr(0, speed->find(' ')), *width)).value;
}

// Lines of "0xSTART 0xEND 0xFLAGS"; the first six are the base address registers.
std::vector<Bytes> bars_of(std::string const& resource) {
  std::vector<Bytes> bars;
  std::istringstream lines(resource);
  std::string start;
  std::string end;
  std::string flags;
  for (int i = 0; i < kBars && lines >> start >> end >> flags; ++i) {
    auto const first = whole_number(start);
    auto const last = whole_number(end);
    if (first && last && *first >= 0 && *last > *first) bars.emplace_back(*last - *first + 1);
  }
  return bars;
}

std::string id_of(Sysfs const& sysfs, fs::path const& folder, std::string_view vendor, std::string_view device) {
  constexpr long long kMaxId = 0xffff;
  auto const first = sysfs.number(folder / vendor);
  auto const second = sysfs.number(folder / device);
  if (!first || !second || *first < 0 || *second < 0 || *first > kMaxId || *second > kMaxId) return {};
  return fmt::format("{:04x}:{:04x}", *first, *second);
}

// "../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0" names the root bus and every bridge on the way.
void place(fs::path const& link, PciFacts& function) {
  std::string before;
  for (auto const& step : link) {
    auto const name = step.string();
    if (name.starts_with("pci") && function.root_bus.empty()) function.root_bus = name.substr(3);
    if (!is_pci_address(name)) continue;
    if (name == function.bdf) function.above = before;
    before = name;
  }
}

// amdgpu shows the version of its VBIOS, the nvme driver that of its drive.
std::string firmware_of(Sysfs const& sysfs, fs::path const& folder) {
  if (auto version = sysfs.text(folder / "vbios_version")) return *version;
  for (auto const& drive : sysfs.names(folder / "nvme"))
    if (auto version = sysfs.text(folder / "nvme" / drive / "firmware_rev")) return *version;
  return {};
}

PciFacts function_of(Sysfs const& sysfs, std::string const& bdf) {
  constexpr long long kMaxClass = 0xffffff;
  PciFacts function;
  function.bdf = bdf;
  auto const folder = fs::path("bus/pci/devices") / bdf;
  if (auto const link = sysfs.link(folder)) place(*link, function);
  if (function.root_bus.empty()) function.root_bus = bdf.substr(0, bdf.rfind(':'));
  auto const code = sysfs.number(folder / "class").value_or(0);
  function.class_code = code >= 0 && code <= kMaxClass ? static_cast<std::uint32_t>(code) : 0;
  function.id = id_of(sysfs, folder, "vendor", "device");
  function.subsystem = id_of(sysfs, folder, "subsystem_vendor", "subsystem_device");
  function.config = read_pci_config(sysfs.bytes(folder / "config", kConfigBytes));
  function.link = link_of(sysfs, folder, "current");
  function.max_link = link_of(sysfs, folder, "max");
  function.bars = bars_of(sysfs.text(folder / "resource").value_or(""));
  auto const numa = sysfs.number(folder / "numa_node").value_or(-1);
  function.numa = numa >= 0 && numa < static_cast<long long>(kMaxFunctions) ? static_cast<int>(numa) : -1;
  if (auto const group = sysfs.link(folder / "iommu_group")) {
    function.iommu_group = group->filename().string();
    function.iommu_type = sysfs.text(fs::path("kernel/iommu_groups") / function.iommu_group / "type").value_or("");
  }
  if (auto const driver = sysfs.link(folder / "driver")) function.driver = driver->filename().string();
  function.firmware = firmware_of(sysfs, folder);
  function.virtual_function = sysfs.link(folder / "physfn").has_value();
  return function;
}

}  // namespace

void read_pci(Sysfs const& sysfs, HostFacts& facts) {
  auto const names = sysfs.names("bus/pci/devices");
  if (names.empty())
    facts.notes.push_back(fmt::format("{} lists no PCI devices", (sysfs.root() / "bus/pci/devices").string()));
  for (auto const& name : names) {
    if (facts.pci.size() == kMaxFunctions) break;
    if (is_pci_address(name))
      facts.pci.push_back(function_of(sysfs, name));
    else
      facts.notes.push_back(fmt::format("'{}' among the PCI devices is no address; left out", cut(name, 64)));
  }
}

}  // namespace lanewise::hw
