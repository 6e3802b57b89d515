#include "core/machine/fault_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/io/spelling.hpp"
#include "core/machine/end_name.hpp"
#include "core/machine/fabric_ways.hpp"
#include "core/machine/nic_port.hpp"
#include "core/machine/setting_value.hpp"

namespace lanewise {
namespace {

constexpr std::string_view kNvlink = "nvlink.";
constexpr std::string_view kSocket = "socket.";
constexpr std::string_view kCables = "cables.";

std::string name_of(Machine const& machine, NvlinkBundle const& bundle) {
  return fmt::format("{}{}-{}", kNvlink, end_name(machine, bundle.a), end_name(machine, bundle.b));
}
std::string name_of(Machine const& machine, SocketLink const& link) {
  return fmt::format("{}{}-{}", kSocket, machine.at(link.a).name, machine.at(link.b).name);
}
std::string name_of(Machine const& machine, NvSwitch::Port const& port) {
  return fmt::format("{}{}", kNvlink, machine.at(port.gpu).name);
}

// Whether a link from one end to the other is called so; either end may come first.
template <class Link>
bool is_called(Machine const& machine, Link const& link, std::string_view name) {
  auto turned = link;
  std::swap(turned.a, turned.b);
  return name_of(machine, link) == name || name_of(machine, turned) == name;
}

[[noreturn]] void refuse_name(Machine const& machine, Setting const& setting, std::string_view name,
                              std::string_view what) {
  auto names = fault_names(machine);
  std::erase(names, name);  // what is called so is something else
  refuse(setting, fmt::format("no {} is called '{}'{}", what, name, did_you_mean(name, names)));
}

// Calls `change` with the number of links of the one that is called so, and takes away those of which none is left.
// False: none is called so.
template <class Change>
bool change_count(Machine& machine, std::string_view name, Change const& change) {
  bool found = false;
  auto const called = [&](auto& links) {
    for (auto& link : links)
      if (is_called(machine, link, name)) {
        change(link.count);
        found = true;
      }
    std::erase_if(links, [](auto const& link) { return link.count == 0; });
  };
  called(machine.nvlinks);
  called(machine.socket_links);
  for (auto& domain : machine.nvswitches) {
    for (auto& port : domain.ports)
      if (name_of(machine, port) == name) {
        change(port.count);
        found = true;
      }
    std::erase_if(domain.ports, [](auto const& port) { return port.count == 0; });
  }
  return found;
}

// A cable has the rate that it had.
void set_cables(Fabric::Trunk& trunk, int cables) {
  trunk.rate = trunk.cables > 0 ? trunk.rate * (static_cast<double>(cables) / trunk.cables) : BytesPerSecond(0);
  trunk.cables = cables;
}

std::string name_of(Fabric const& fabric, Fabric::Trunk const& trunk) {
  return fmt::format("{}{}-{}", kCables, fabric.switches[trunk.lower].name, fabric.switches[trunk.upper].name);
}

// The cables of a trunk, or the switches that act as one, of which each has its share of the cables. False: none is
// called so.
template <class Change>
bool change_fabric(Machine& machine, std::string_view name, Change const& change) {
  if (!machine.fabric) return false;
  auto& fabric = *machine.fabric;
  bool found = false;
  for (auto& trunk : fabric.trunks) {
    if (name_of(fabric, trunk) != name) continue;
    auto cables = trunk.cables;
    change(cables);
    set_cables(trunk, cables);
    found = true;
  }
  for (std::uint32_t at = 0; at < fabric.switches.size(); ++at) {
    auto& one = fabric.switches[at];
    if (one.name != name || one.count < 2) continue;
    auto const before = one.count;
    change(one.count);
    for (auto& trunk : fabric.trunks)
      if (trunk.lower == at || trunk.upper == at) {
        auto const share = static_cast<double>(one.count) / before;
        trunk.rate = trunk.rate * share;
        trunk.cables = static_cast<int>(std::ceil(trunk.cables * share));
      }
    found = true;
  }
  return found;
}

// A node, or a switch of the network, or an NVSwitch. False: none is called so.
bool take_away(Machine& machine, std::string_view name) {
  bool found = false;
  for (auto& host : machine.hosts)
    if (!host.name.empty() && host.name == name) found = host.off = true;
  found = std::erase_if(machine.nvswitches, [&](NvSwitch const& domain) { return domain.name == name; }) > 0 || found;
  if (!machine.fabric) return found;
  auto& fabric = *machine.fabric;
  for (std::uint32_t at = 0; at < fabric.switches.size(); ++at) {
    if (fabric.switches[at].name != name) continue;
    std::erase_if(fabric.attachments, [&](Fabric::Attachment const& attachment) { return attachment.at == at; });
    for (auto& trunk : fabric.trunks)
      if (trunk.lower == at || trunk.upper == at) set_cables(trunk, 0);
    found = true;
  }
  return found;
}

// The network of this name; all of them where the name is empty.
std::vector<Fabric::Network*> networks_called(Machine& machine, Setting const& setting, std::string_view name) {
  std::vector<Fabric::Network*> found;
  std::vector<std::string> names;
  for (auto& network : machine.fabric->networks) {
    names.push_back(network.name);
    if (name.empty() || network.name == name) found.push_back(&network);
  }
  if (found.empty())
    refuse(setting, names.size() == 1 && names.front().empty()
                        ? fmt::format("the only fabric has no name: leave '@{}' out", name)
                        : fmt::format("no fabric is called '{}'{}", name, did_you_mean(std::string(name), names)));
  return found;
}

}  // namespace

std::vector<CountableLinks> countable_links(Machine const& machine) {
  std::vector<CountableLinks> links;
  for (auto const& domain : machine.nvswitches)
    for (auto const& port : domain.ports) links.push_back({name_of(machine, port), port.count, port.gpu});
  for (auto const& bundle : machine.nvlinks) links.push_back({name_of(machine, bundle), bundle.count});
  for (auto const& link : machine.socket_links) links.push_back({name_of(machine, link), link.count});
  if (machine.fabric)
    for (auto const& trunk : machine.fabric->trunks) links.push_back({name_of(*machine.fabric, trunk), trunk.cables});
  return links;
}

std::vector<std::string> fault_names(Machine const& machine) {
  std::vector<std::string> names;
  for (auto const& function : machine.functions) names.push_back(function.name);
  for (auto const& host : machine.hosts)
    if (!host.name.empty()) names.push_back(host.name);
  for (auto const& domain : machine.nvswitches) names.push_back(domain.name);
  if (machine.fabric)
    for (auto const& one : machine.fabric->switches) names.push_back(one.name);
  for (auto& link : countable_links(machine)) names.push_back(std::move(link.name));
  return names;
}

void set_off(Machine& machine, Setting const& setting, std::string_view name) {
  bool const off = flag_of(setting);
  if (auto const id = machine.find_function(name)) {
    machine.functions[index(*id)].off = off;
    return;
  }
  if (!off) refuse(setting, "only a device can be switched on again; leave the setting out");
  auto const none = [](int& count) { count = 0; };
  if (take_away(machine, name) || change_count(machine, name, none) || change_fabric(machine, name, none)) return;
  refuse_name(machine, setting, name, "device, node, switch or link");
}

void set_link_count(Machine& machine, Setting const& setting, std::string_view name) {
  auto const change = [&](int& count) { count = count_of(setting, count); };
  if (!change_count(machine, name, change) && !change_fabric(machine, name, change))
    refuse_name(machine, setting, name, "NVLink, socket link, cables or group of switches");
}

void set_cable_rate(Machine& machine, Setting const& setting, std::string_view nic) {
  auto const rate = value_of(setting, parse_rate(setting.value));
  auto const id = machine.find_function(nic);
  if (!id || machine.at(*id).kind != PciKind::Nic) refuse_name(machine, setting, nic, "NIC");
  auto const owner = port_owner(machine, *id);  // of the port that other NICs may share
  if (machine.fabric)
    for (auto& attachment : machine.fabric->attachments)
      if (port_owner(machine, attachment.nic) == owner)
        attachment.rate = rate / static_cast<double>(machine.fabric->network_of(attachment.at).planes);
  machine.functions[index(owner)].rate = rate;
}

void set_routing(Machine& machine, Setting const& setting, std::string_view network) {
  if (!machine.fabric) refuse(setting, "routing belongs to a cluster with a fabric");
  std::optional<Routing> wanted;
  for (auto const known : {Routing::Adaptive, Routing::Static, Routing::Ecmp, Routing::Valiant})
    if (setting.value == to_string(known)) wanted = known;
  if (!wanted) refuse(setting, "allowed: adaptive, static, ecmp, valiant");
  std::string why;
  bool is_set = false;
  for (auto* const one : networks_called(machine, setting, network)) {
    if (one->kind == "torus") {
      why = "a torus routes dimension by dimension";
    } else if (*wanted == Routing::Valiant && one->kind != "dragonfly") {
      why = "valiant belongs to a fabric of the kind dragonfly";
    } else {
      is_set = true;
      one->routing = *wanted;
      if (*wanted != Routing::Ecmp) one->flows_per_pair = 1;
    }
  }
  if (!is_set) refuse(setting, why);
}

void set_flows_per_pair(Machine& machine, Setting const& setting, std::string_view network) {
  bool is_set = false;
  if (machine.fabric)
    for (auto* const one : networks_called(machine, setting, network)) {
      if (one->routing != Routing::Ecmp) continue;
      auto const flows = count_of(setting, kMaxFlowsPerPair, 1);
      one->flows_per_pair = flows;
      is_set = true;
    }
  if (!is_set) refuse(setting, "flows_per_pair belongs to a fabric whose routing is ecmp; set routing=ecmp before it");
}

void set_uplinks(Machine& machine, Setting const& setting, std::string_view wanted) {
  if (!machine.fabric) refuse(setting, "uplinks belong to a cluster with a fabric");
  auto& fabric = *machine.fabric;
  constexpr int kMaxUplinks = 4096;
  auto const cables = count_of(setting, kMaxUplinks);
  bool found = false;
  for (auto& trunk : fabric.trunks) {
    auto const& lower = fabric.switches[trunk.lower];
    bool const is_meant = wanted.empty() ? lower.tier == 0 : lower.name == wanted;
    if (!is_meant || lower.tier >= fabric.switches[trunk.upper].tier) continue;
    found = true;
    // Of cables that are there, so that the rate of one is known; otherwise of the switch's ports.
    if (trunk.cables > 0) {
      set_cables(trunk, cables);
    } else if (lower.part && machine.at(*lower.part).hop.rate) {
      trunk = {trunk.lower, trunk.upper, cables, *machine.at(*lower.part).hop.rate * static_cast<double>(cables)};
    } else {
      refuse(setting, fmt::format("no cable is left at '{}', and its switch gives no rate of its ports", lower.name));
    }
  }
  if (found) return;
  if (wanted.empty()) refuse(setting, "the leaves of this fabric have no uplinks");
  refuse_name(machine, setting, wanted, "leaf switch");
}

}  // namespace lanewise
