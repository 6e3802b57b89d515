#include "core/interop/host/platform_hints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace lanewise {
namespace {

// A function that only CPUs of one family show, by its id, or by its name where lspci was not asked for ids. Sources:
// pci.ids 2023.04.11; 14ad and 12c0 as published outputs of EPYC 9004 and 9005 servers show them at 00:18.0; 347a and
// 352a are the root ports that pci.ids and hwloc's recorded machines have for these Xeons.
struct Mark {
  std::string_view id;
  std::string_view words;
  std::string_view cpuid;
};
constexpr std::array<Mark, 13> kMarks{{{"1022:1460", "Family 17h (Models 00h-0fh) Data Fabric", "AuthenticAMD/23/1"},
                                       {"1022:1490", "Starship Device 24; Function 0", "AuthenticAMD/23/49"},
                                       {"1022:1650", "Milan Data Fabric; Function 0", "AuthenticAMD/25/1"},
                                       {"1022:14ad", "Genoa Data Fabric", "AuthenticAMD/25/17"},
                                       {"1022:12c0", "Turin Data Fabric", "AuthenticAMD/26/2"},
                                       {"8086:3c00", "Xeon E5/Core i7 DMI2", "GenuineIntel/6/45"},
                                       {"8086:0e00", "Xeon E7 v2/Xeon E5 v2/Core i7 DMI2", "GenuineIntel/6/62"},
                                       {"8086:2f00", "Xeon E7 v3/Xeon E5 v3/Core i7 DMI2", "GenuineIntel/6/63"},
                                       {"8086:6f00", "Xeon E7 v4/Xeon E5 v4/Xeon E3 v4", "GenuineIntel/6/79"},
                                       {"8086:2020", "Sky Lake-E DMI3 Registers", "GenuineIntel/6/85"},
                                       {"8086:2030", "Sky Lake-E PCI Express Root Port A", "GenuineIntel/6/85"},
                                       {"8086:347a", "Ice Lake PCIe Root Port A", "GenuineIntel/6/106"},
                                       {"8086:352a", "Sapphire Rapids PCIe Root Port A", "GenuineIntel/6/143"}}};

bool shows(PciFacts const& function, Mark const& mark) {
  return function.id == mark.id || (!mark.words.empty() && function.product.find(mark.words) != std::string::npos);
}

// The chipsets that QEMU, VMware and Hyper-V present: hw/pci-host/i440fx.c, hw/pci-host/q35.c and gpex.c of QEMU;
// pci.ids 2023.04.11. Q35's bridge is also one of old desktop boards, but those have no PCI Express devices of today.
struct Chipset {
  std::string_view id;
  std::string_view words;
  std::string_view hypervisor;
};
constexpr std::array<Chipset, 5> kVirtual{
    {{"8086:1237", "440FX - 82441FX PMC", "kvm"},
     {"8086:29c0", "82G33/G31/P35/P31 Express DRAM Controller", "kvm"},
     {"1b36:0008", "QEMU PCIe Host bridge", "kvm"},
     {"8086:7190", "440BX/ZX/DX - 82443BX/ZX/DX Host bridge", "vmware"},
     {"8086:7192", "440BX/ZX/DX - 82443BX/ZX/DX Host bridge (AGP disabled)", "hyperv"}}};

// Sockets by their data fabrics; 0: this processor does not show them so. Zen 1 shows one for each die.
std::size_t data_fabrics(HostFacts const& facts) {
  std::size_t fabrics = 0;
  for (auto const& function : facts.pci) {
    bool const here = function.bdf.starts_with("0000:00:1") && function.bdf.ends_with(".0") && function.bdf[9] >= '8';
    bool const is_amd = function.id.starts_with("1022:");
    if (!here || !is_amd || function.class_code >> 8U != 0x0600) continue;
    if (shows(function, kMarks.front())) return 0;
    ++fabrics;
  }
  return fabrics;
}

}  // namespace

void infer_sockets(HostFacts& facts) {
  if (!facts.cpu.nodes.empty()) return;
  constexpr int kMaxNodes = 64;
  int last = -1;
  for (auto const& function : facts.pci) last = std::max(last, std::min(function.numa, kMaxNodes - 1));
  auto const sockets = static_cast<int>(data_fabrics(facts));
  auto const nodes = std::max({last + 1, sockets, 1});
  bool const divides = sockets > 0 && nodes % sockets == 0;
  for (int i = 0; i < nodes; ++i) facts.cpu.nodes.push_back({i, "", {divides ? i / (nodes / sockets) : i}});
  if (nodes == 1) return;
  facts.notes.push_back(
      divides
          ? fmt::format("inferred: {} sockets, one for each data fabric; {} NUMA nodes in their order", sockets, nodes)
          : fmt::format("inferred: each NUMA node is a socket; {} does not say which share one", facts.source));
}

void infer_cpu_family(HostFacts& facts) {
  if (!facts.cpu.cpuid.empty() || !facts.cpu.model_name.empty() || !facts.cpu.part.empty() || facts.cpu.hypervisor)
    return;
  for (auto const& mark : kMarks)
    for (auto const& function : facts.pci) {
      if (!shows(function, mark)) continue;
      facts.cpu.cpuid = mark.cpuid;
      facts.notes.push_back(
          fmt::format("inferred: {} has a function that CPUs of {} have; a part of the exact product may know more",
                      function.bdf, mark.cpuid));
      return;
    }
}

void infer_hypervisor(HostFacts& facts) {
  for (auto const& function : facts.pci) {
    if (!function.bdf.ends_with(":00:00.0")) continue;
    for (auto const& chipset : kVirtual) {
      bool const same = function.id == chipset.id || function.product.find(chipset.words) != std::string::npos;
      if (!same) continue;
      facts.cpu.hypervisor = true;
      facts.platform.hypervisor = chipset.hypervisor;
      return;
    }
  }
}

}  // namespace lanewise
