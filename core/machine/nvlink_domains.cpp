#include "core/machine/nvlink_domains.hpp"

#include <algorithm>
#include <utility>

namespace lanewise {

std::optional<std::size_t> port_of(Machine const& machine, NvSwitch const& domain, PciId gpu) {
  auto const& ports = domain.ports;
  if (domain.host && *domain.host != machine.host_of(gpu)) return std::nullopt;
  auto const found = domain.host ? std::find_if(ports.begin(), ports.end(),
                                                [&](NvSwitch::Port const& port) { return port.gpu == gpu; })
                                 : std::lower_bound(ports.begin(), ports.end(), gpu,
                                                    [](NvSwitch::Port const& port, PciId id) { return port.gpu < id; });
  if (found == ports.end() || found->gpu != gpu) return std::nullopt;
  return static_cast<std::size_t>(found - ports.begin());
}

int links_of(Machine const& machine, NvSwitch const& domain, PciId gpu) {
  auto const port = port_of(machine, domain, gpu);
  return port ? domain.ports[*port].count : 0;
}

std::vector<HostId> first_nodes_of_domains(Machine const& machine) {
  std::vector<HostId> first;
  for (std::size_t i = 0; i < machine.hosts.size(); ++i) first.push_back(HostId(i));
  auto const root = [&](HostId host) {
    while (first[index(host)] != host) host = first[index(host)];
    return host;
  };
  for (auto const& domain : machine.nvswitches) {
    if (domain.host || domain.ports.empty()) continue;
    for (auto const& port : domain.ports) {
      auto const [low, high] =
          std::minmax({root(machine.host_of(port.gpu)), root(machine.host_of(domain.ports[0].gpu))});
      first[index(high)] = low;
    }
  }
  for (auto& host : first) host = root(host);
  return first;
}

}  // namespace lanewise
