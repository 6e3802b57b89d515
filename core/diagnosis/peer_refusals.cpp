#include <fmt/format.h>

#include <utility>

#include "core/diagnosis/hypothesis.hpp"

namespace lanewise {

std::vector<Hypothesis> refusals_for(Machine const& machine, Catalogue& catalogue) {
  std::vector<Hypothesis> found;
  auto const add = [&](CauseKind kind, std::string subject, std::string text, std::string check, Setting setting) {
    auto h = hypothesis_of(kind, std::move(subject), std::move(text));
    h.check = std::move(check);
    h.settings = {setting};
    h.change = [setting = std::move(setting), &catalogue](Machine& changed) {
      apply_setting(changed, setting, catalogue);
    };
    found.push_back(std::move(h));
  };
  add(CauseKind::Iommu, "", "the IOMMU translates DMA, so the driver refuses peer access",
      "/proc/cmdline and dmesg: iommu=pt or intel_iommu=off, amd_iommu=off", {"iommu", "translated"});
  add(CauseKind::Acs, "", "ACS redirects peer traffic, so the driver refuses peer access",
      "lspci -vvv: ACSCtl with ReqRedir+ above the GPUs", {"acs", "on"});
  add(CauseKind::PeerRefused, "", "it is a virtual machine whose hypervisor does not announce peer access",
      "the hypervisor's option for peer-to-peer cliques of passed-through GPUs", {"virtualization", "passthrough"});
  add(CauseKind::NotNvlink, "", "the NVSwitch fabric is not initialised", "systemctl status nvidia-fabricmanager",
      {"software.fabric_manager", "false"});
  for (auto const gpu : machine.all(PciKind::Gpu)) {
    auto const& name = machine.at(gpu).name;
    add(CauseKind::PeerRefused, name, fmt::format("{} is split by MIG, which has no peer access", name),
        "nvidia-smi --query-gpu=mig.mode.current --format=csv", {"mig@" + name, "true"});
  }
  return found;
}

Hypothesis peer_refused() {
  auto h =
      hypothesis_of(CauseKind::PeerRefused, "", "peer access is refused: the driver stages the copies in host memory");
  h.check = "nvidia-smi topo -p2p r and -p2p w; ACS, IOMMU, virtualisation, MIG and the product can refuse it";
  return h;
}

}  // namespace lanewise
