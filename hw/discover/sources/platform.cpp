// The hypervisor below the operating system, the IOMMU, and the loaded kernel modules.
#include <algorithm>
#include <array>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <cstring>

#include "hw/discover/sources/sources.hpp"

namespace lanewise::hw {
namespace {

struct Named {
  std::string_view text;
  std::string_view hypervisor;
};

template <std::size_t N>
std::string first_that(std::array<Named, N> const& names, std::string_view text) {
  auto const* const found = std::find_if(names.begin(), names.end(),
                                         [&](Named const& n) { return text.find(n.text) != std::string_view::npos; });
  return found == names.end() ? std::string() : std::string(found->hypervisor);
}

// Vendor and product of the SMBIOS tables, as systemd-detect-virt(1) reads them.
constexpr std::array<Named, 8> kFirmware{{{"QEMU", "kvm"},
                                          {"KVM", "kvm"},
                                          {"Amazon EC2", "kvm"},
                                          {"Google Compute Engine", "kvm"},
                                          {"OpenStack", "kvm"},
                                          {"VMware", "vmware"},
                                          {"Microsoft Corporation Virtual Machine", "hyperv"},
                                          {"Xen", "xen"}}};
// CPUID leaf 0x40000000; those of Linux arch/x86/include/asm.
constexpr std::array<Named, 4> kProcessor{
    {{"KVMKVMKVM", "kvm"}, {"VMwareVMware", "vmware"}, {"Microsoft Hv", "hyperv"}, {"XenVMMXenVMM", "xen"}}};
// The maker of the ACPI tables: six letters at offset 10. Firecracker has no SMBIOS, and answers CPUID as KVM.
constexpr std::array<Named, 2> kTables{{{"FIRECK", "firecracker"}, {"BOCHS", "kvm"}}};

std::string by_processor() {
#if defined(__x86_64__)
  constexpr unsigned kHypervisorLeaf = 0x40000000;
  unsigned a = 0;
  std::array<unsigned, 3> letters{};
  // NOLINTNEXTLINE(readability-isolate-declaration): the macro's own
  __cpuid(kHypervisorLeaf, a, letters[0], letters[1], letters[2]);
  std::array<char, sizeof(letters)> text{};
  std::memcpy(text.data(), letters.data(), sizeof(letters));
  return first_that(kProcessor, {text.data(), text.size()});
#else
  return {};
#endif
}

std::string by_acpi(Sysfs const& sysfs) {
  constexpr std::size_t kMaker = 10;
  constexpr std::size_t kMakerLength = 6;
  for (auto const* table : {"FACP", "APIC", "DSDT"}) {
    auto const bytes = sysfs.bytes(std::filesystem::path("firmware/acpi/tables") / table, kMaker + kMakerLength);
    if (bytes.size() < kMaker + kMakerLength) continue;
    if (auto found = first_that(kTables, std::string(bytes.begin() + kMaker, bytes.end())); !found.empty())
      return found;
  }
  return {};
}

std::string hypervisor_of(Sysfs const& sysfs, bool live, HostFacts const& facts) {
  if (auto const type = sysfs.text("hypervisor/type"); type == "xen") return "xen";
  // An x86 guest has the flag; a bare-metal instance of a cloud has the cloud's firmware without it.
  bool const x86 = !facts.cpu.cpuid.empty();
  if (x86 && !facts.cpu.hypervisor) return {};
  auto maker = by_acpi(sysfs);
  if (maker == "firecracker") return maker;
  if (auto found = first_that(kFirmware, facts.platform.product); !found.empty()) return found;
  if (!maker.empty() || !x86) return maker;
  return live ? by_processor() : std::string();
}

}  // namespace

void read_platform(Sysfs const& sysfs, bool live, HostFacts& facts) {
  auto& platform = facts.platform;
  auto const vendor = sysfs.text("class/dmi/id/sys_vendor").value_or("");
  auto const product = sysfs.text("class/dmi/id/product_name").value_or("");
  platform.product = vendor.empty() ? product : vendor + (product.empty() ? "" : " " + product);
  auto const maker = sysfs.text("class/dmi/id/bios_vendor").value_or("");
  auto const version = sysfs.text("class/dmi/id/bios_version").value_or("");
  if (!version.empty()) platform.firmware = maker.empty() ? version : maker + " " + version;
  platform.kernel_arguments = sysfs.proc("cmdline").value_or("");
  if (sysfs.exists("class/iommu") || sysfs.exists("kernel/iommu_groups"))
    platform.has_iommu = !sysfs.names("class/iommu").empty() || !sysfs.names("kernel/iommu_groups").empty();
  for (auto const* module : {"nvidia", "nvidia_peermem", "nvidia_fs", "gdrdrv", "ib_uverbs", "rdma_rxe", "amdgpu"})
    if (sysfs.exists(std::filesystem::path("module") / module)) platform.modules.emplace_back(module);
  platform.hypervisor = hypervisor_of(sysfs, live, facts);
}

}  // namespace lanewise::hw
