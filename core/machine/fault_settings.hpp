#pragma once
// Settings of what fails: off@NAME, count@LINK=N, rate@NIC=RATE, uplinks=N, uplinks@LEAF=N; and of the network, routing
// and flows_per_pair, also as routing@FABRIC. See setting.hpp.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/machine/machine.hpp"
#include "lanewise/machine/setting.hpp"

namespace lanewise {

// Links that count@ changes, by the names that it takes, with how many there are.
struct CountableLinks {
  std::string name;
  int count = 0;
  std::optional<PciId> gpu = {};  // of a GPU's links to the NVSwitches
};
std::vector<CountableLinks> countable_links(Machine const& machine);

// Everything that can be off: devices and ports, nodes and network switches of a cluster, NVSwitches, and links by the
// names that count@ takes: "nvlink.gpu3" (to the NVSwitches), "nvlink.gpu0-gpu1", "socket.cpu0-cpu1",
// "cables.leaf0-spine".
std::vector<std::string> fault_names(Machine const& machine);

// Each throws InputError when no such thing is called so, or the value does not fit it.
// A device is off with everything below it, a node with all of its devices and its memory. A network switch, an
// NVSwitch or a link that is off is taken away.
void set_off(Machine& machine, Setting const& setting, std::string_view name);
// Fewer links of a bundle, of a GPU's to the NVSwitches, or between two sockets; fewer cables between two network
// switches, or switches of those that act as one. 0 takes it away.
void set_link_count(Machine& machine, Setting const& setting, std::string_view name);
// The cables of a NIC together run slower than the NIC.
void set_cable_rate(Machine& machine, Setting const& setting, std::string_view nic);
// The cables from a switch to the tier above, each of the rate that they have; an empty name: of every leaf.
void set_uplinks(Machine& machine, Setting const& setting, std::string_view wanted);
// How a network divides traffic among cables; other routing than ecmp has one flow between two NICs. An empty name:
// every network that can route so.
void set_routing(Machine& machine, Setting const& setting, std::string_view network);
void set_flows_per_pair(Machine& machine, Setting const& setting, std::string_view network);

}  // namespace lanewise
