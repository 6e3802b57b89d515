#include "core/machine/nvlink_ports.hpp"

#include <map>
#include <variant>

namespace lanewise {

std::vector<ExceededPorts> exceeded_nvlink_ports(Machine const& machine) {
  std::map<PciId, int> used;
  for (auto const& bundle : machine.nvlinks) {
    if (machine.at(bundle.part).link.family == LinkFamily::C2c) continue;
    for (auto const& end : {bundle.a, bundle.b})
      if (auto const* gpu = std::get_if<PciId>(&end)) used[*gpu] += bundle.count;
  }
  for (auto const& domain : machine.nvswitches)
    for (auto const& port : domain.ports) used[port.gpu] += port.count;
  std::vector<ExceededPorts> exceeded;
  for (auto const& [gpu, links] : used) {
    auto const* part = machine.part_of(gpu);
    if (part != nullptr && !part->spread && part->gpu.vendor == "nvidia" && links > part->gpu.nvlink_ports)
      exceeded.push_back({gpu, links});
  }
  return exceeded;
}

}  // namespace lanewise
