#include "core/interop/host/stand_ins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace lanewise {
namespace {

struct StandIn {
  RoleKind kind;
  std::string_view id;
};
// docs/emulator.md has the models; these are their PCI ids (pci.ids).
constexpr std::array kStandIns{StandIn{RoleKind::RootPort, "1b36:000c"},  // pcie-root-port
                               StandIn{RoleKind::Switch, "104c:8232"},    // x3130-upstream
                               StandIn{RoleKind::Gpu, "1af4:1110"},       // ivshmem-plain
                               StandIn{RoleKind::Nic, "1af4:1041"},       // virtio-net-pci
                               StandIn{RoleKind::Nvme, "1b36:0010"},      // nvme
                               StandIn{RoleKind::Device, "1234:11e8"}};   // edu

}  // namespace

std::string misfit_of_roles(std::vector<Role> const& roles, HostFacts const& facts) {
  for (auto const& role : roles) {
    auto const* stand_in =
        std::find_if(kStandIns.begin(), kStandIns.end(), [&](StandIn const& known) { return known.kind == role.kind; });
    if (stand_in == kStandIns.end()) continue;  // of the emulator itself
    auto const function =
        std::find_if(facts.pci.begin(), facts.pci.end(), [&](PciFacts const& pci) { return pci.bdf == role.bdf; });
    if (function == facts.pci.end()) return fmt::format("{}, its {}, is not there", role.bdf, role.name);
    if (function->id != stand_in->id)
      return fmt::format("{}, its {}, is {}, not the stand-in {}", role.bdf, role.name, function->id, stand_in->id);
  }
  return {};
}

}  // namespace lanewise
