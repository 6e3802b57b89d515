#include "lanewise/explain/places.hpp"

#include "core/machine/device_order.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {

std::vector<std::string> places_named(Machine const& machine, std::vector<std::string> const& texts) {
  std::vector<std::string> names;
  for (auto const& text : texts)
    for (auto& name : expand_range(text)) {
      static_cast<void>(machine.place(name));  // throws when there is no such place
      names.push_back(std::move(name));
    }
  return names;
}

std::vector<std::string> all_endpoints(Machine const& machine) {
  constexpr std::size_t kNodes = 2;
  std::vector<std::string> names;
  auto const is_included = [&](HostId host) { return index(host) < kNodes; };
  for (auto const kind : {PciKind::Gpu, PciKind::Nic, PciKind::Nvme})
    for (auto const id : machine.all(kind))
      if (is_included(machine.host_of(id))) names.push_back(machine.at(id).name);
  for (std::size_t i = 0; i < machine.numa_nodes.size(); ++i)
    if (is_included(machine.host_of(Place(NumaId(i))))) names.push_back(machine.numa_nodes[i].name);
  return names;
}

std::vector<std::string> all_gpus(Machine const& machine) {
  std::vector<std::string> names;
  for (auto const gpu : all_in_number_order(machine, PciKind::Gpu)) names.push_back(machine.at(gpu).name);
  return names;
}

}  // namespace lanewise
