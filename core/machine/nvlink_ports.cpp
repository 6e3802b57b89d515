#include "core/machine/nvlink_ports.hpp"

#include <fmt/format.h>

#include <map>
#include <variant>

#include "lanewise/io/error.hpp"

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

void refuse_exceeded_ports(Machine const& machine, std::string_view source) {
  for (auto const& [gpu, links] : exceeded_nvlink_ports(machine)) {
    auto const* part = machine.part_of(gpu);
    throw InputError(fmt::format("{} gives {} {} NVLinks, but '{}' has {} ports; name another part with --gpu", source,
                                 machine.at(gpu).name, links, part->name, part->gpu.nvlink_ports));
  }
}

}  // namespace lanewise
