#include "emulator/kernel_arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace lanewise::emulator {
namespace {

std::string_view iommu_arguments(IommuMode mode) {
  switch (mode) {
    case IommuMode::Unknown:
    case IommuMode::Off: return "intel_iommu=off";
    case IommuMode::Passthrough: return "intel_iommu=on iommu=pt";
    case IommuMode::Lazy: return "intel_iommu=on iommu=nopt iommu.strict=0";
    case IommuMode::Strict:
    case IommuMode::Vfio: break;
  }
  return "intel_iommu=on iommu=nopt iommu.strict=1";
}

}  // namespace

std::optional<std::uint16_t> acs_of_port(Machine const& machine, EmulatedDevice const& port) {
  auto const control = port.below ? machine.acs_above(*port.below)
                                  : machine.at(machine.at(machine.at(port.bridge).socket).host).settings.acs;
  return control.known ? std::optional(control.bits) : std::nullopt;
}

std::string kernel_arguments(Machine const& machine, HostId host, PciLayout const& layout) {
  auto const& settings = machine.at(host).settings;
  // Mitigations are off because the guest runs nothing that needs them. Without no_timer_check the kernel panics when a
  // virtual processor has to wait for a real one during its timer test.
  std::string text =
      "console=ttyS0 quiet loglevel=3 panic=-1 mitigations=off nokaslr no_timer_check random.trust_cpu=on "
      "rdinit=/init ";
  text += iommu_arguments(settings.iommu);
  if (settings.iommu == IommuMode::Off || settings.iommu == IommuMode::Unknown) return text;
  // With an IOMMU the kernel turns ACS redirection on before it forms IOMMU groups. Keeps it off where the file says
  // so.
  constexpr std::uint16_t kRedirecting =
      AcsControl::kRequestRedirect | AcsControl::kCompletionRedirect | AcsControl::kEgressControl;
  std::vector<std::string> direct;
  for (auto const& device : layout.devices) {
    if (device.model != DeviceModel::RootPort) continue;
    auto const bits = acs_of_port(machine, device);
    if (bits && (*bits & kRedirecting) == 0) direct.push_back(device.address);
  }
  if (!direct.empty()) text += fmt::format(" pci=disable_acs_redir={}", fmt::join(direct, ";"));
  return text;
}

}  // namespace lanewise::emulator
