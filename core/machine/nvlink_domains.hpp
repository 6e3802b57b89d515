#pragma once
// Domains: NVSwitches that join GPUs of several nodes.
#include <cstddef>
#include <optional>
#include <vector>

#include "lanewise/machine/machine.hpp"

namespace lanewise {

// The number of a GPU's port on this switch; nullopt: it is not on it.
std::optional<std::size_t> port_of(Machine const& machine, NvSwitch const& domain, PciId gpu);
// How many links join a GPU with this switch.
int links_of(Machine const& machine, NvSwitch const& domain, PciId gpu);

// By node: the first of the nodes that domains join it with, itself included. A node that is in none is its own.
std::vector<HostId> first_nodes_of_domains(Machine const& machine);

}  // namespace lanewise
