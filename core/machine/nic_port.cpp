#include "core/machine/nic_port.hpp"

namespace lanewise {

PciId port_owner(Machine const& machine, PciId nic) {
  auto const& wanted = machine.at(nic).port_of;
  if (wanted.empty()) return nic;
  // The functions of a node are neighbours.
  auto const host = machine.host_of(nic);
  auto first = index(nic);
  while (first > 0 && machine.host_of(PciId(first - 1)) == host) --first;
  for (auto i = first; i < machine.functions.size() && machine.host_of(PciId(i)) == host; ++i)
    if (machine.functions[i].name == wanted) return PciId(i);
  return machine.find_function(wanted).value_or(nic);
}

std::map<PciId, std::vector<PciId>> shared_adapters(Machine const& machine) {
  std::map<PciId, std::vector<PciId>> shared;
  for (auto const nic : machine.all(PciKind::Nic)) {
    auto const owner = port_owner(machine, nic);
    if (machine.host_of(owner) != machine.host_of(nic)) shared[owner].push_back(nic);
  }
  return shared;
}

}  // namespace lanewise
