#include "core/machine/fault_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/io/spelling.hpp"
#include "core/machine/end_name.hpp"
#include "core/machine/setting_value.hpp"

namespace lanewise {
namespace {

constexpr std::string_view kNvlink = "nvlink.";
constexpr std::string_view kSocket = "socket.";

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
  refuse(setting, fmt::format("no {} is called '{}'{}", what, name, did_you_mean(name, fault_names(machine))));
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

// A node, or a leaf switch, or an NVSwitch. False: none is called so.
bool take_away(Machine& machine, std::string_view name) {
  bool found = false;
  for (auto& host : machine.hosts)
    if (!host.name.empty() && host.name == name) found = host.off = true;
  found = std::erase_if(machine.nvswitches, [&](NvSwitch const& domain) { return domain.name == name; }) > 0 || found;
  if (!machine.fabric) return found;
  auto& fabric = *machine.fabric;
  for (std::uint32_t leaf = 0; leaf < fabric.leaves.size(); ++leaf) {
    if (fabric.leaves[leaf].name != name) continue;
    std::erase_if(fabric.attachments, [&](Fabric::Attachment const& attachment) { return attachment.leaf == leaf; });
    found = true;
  }
  return found;
}

}  // namespace

std::vector<std::string> fault_names(Machine const& machine) {
  std::vector<std::string> names;
  for (auto const& function : machine.functions) names.push_back(function.name);
  for (auto const& host : machine.hosts)
    if (!host.name.empty()) names.push_back(host.name);
  for (auto const& bundle : machine.nvlinks) names.push_back(name_of(machine, bundle));
  for (auto const& domain : machine.nvswitches) {
    names.push_back(domain.name);
    for (auto const& port : domain.ports) names.push_back(name_of(machine, port));
  }
  for (auto const& link : machine.socket_links) names.push_back(name_of(machine, link));
  if (machine.fabric)
    for (auto const& leaf : machine.fabric->leaves) names.push_back(leaf.name);
  return names;
}

void set_off(Machine& machine, Setting const& setting, std::string_view name) {
  bool const off = flag_of(setting);
  if (auto const id = machine.find_function(name)) {
    machine.functions[index(*id)].off = off;
    return;
  }
  if (!off) refuse(setting, "only a device can be switched on again; leave the setting out");
  if (take_away(machine, name) || change_count(machine, name, [](int& count) { count = 0; })) return;
  refuse_name(machine, setting, name, "device, node, switch or link");
}

void set_link_count(Machine& machine, Setting const& setting, std::string_view name) {
  if (!change_count(machine, name, [&](int& count) { count = count_of(setting, count); }))
    refuse_name(machine, setting, name, "NVLink or socket link");
}

void set_cable_rate(Machine& machine, Setting const& setting, std::string_view nic) {
  auto const rate = value_of(setting, parse_rate(setting.value));
  auto const id = machine.find_function(nic);
  if (!id || machine.at(*id).kind != PciKind::Nic) refuse_name(machine, setting, nic, "NIC");
  if (machine.fabric)
    for (auto& attachment : machine.fabric->attachments)
      if (attachment.nic == *id) attachment.rate = rate;
  machine.functions[index(*id)].rate = rate;
}

void set_uplinks(Machine& machine, Setting const& setting, std::string_view wanted) {
  auto const* const part =
      machine.fabric && machine.fabric->switch_part ? &machine.at(*machine.fabric->switch_part) : nullptr;
  if (part == nullptr || !part->hop.rate)
    refuse(setting, "uplinks belong to a cluster whose fabric names a switch with a known port rate");
  constexpr int kMaxUplinks = 4096;
  auto const cables = count_of(setting, kMaxUplinks);
  bool found = false;
  for (auto& leaf : machine.fabric->leaves) {
    if (!leaf.uplink && wanted.empty()) continue;
    if (!wanted.empty() && leaf.name != wanted) continue;
    found = true;
    leaf.uplink = cables > 0 ? std::optional(*part->hop.rate * static_cast<double>(cables)) : std::nullopt;
  }
  if (found) return;
  if (wanted.empty()) refuse(setting, "the leaves of this fabric have no uplinks");
  refuse_name(machine, setting, wanted, "leaf switch");
}

}  // namespace lanewise
