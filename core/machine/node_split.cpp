#include "core/machine/node_split.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace lanewise {
namespace {

// Sets where each node's elements begin: `host_of` gives an element's node, or nullopt where it is on several. False
// where they are not ordered by node.
template <class Elements, class HostOf>
bool set_firsts(std::vector<NodeSplit::First>& first, std::size_t NodeSplit::First::*member, Elements const& elements,
                HostOf host_of) {
  std::size_t node = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::optional<HostId> const host = host_of(elements[i]);
    if (!host || index(*host) < node) return false;
    while (node < index(*host)) first[++node].*member = i;
  }
  while (node + 1 < first.size()) first[++node].*member = elements.size();
  return true;
}

template <class Id>
Id moved(Id id, std::size_t from, std::size_t to) {
  return Id(index(id) - from + to);
}

}  // namespace

std::optional<NodeSplit> NodeSplit::of(Machine const& machine) {
  NodeSplit split(machine);
  return split.find_firsts() ? std::optional(std::move(split)) : std::nullopt;
}

bool NodeSplit::find_firsts() {
  auto const& m = machine_;
  first_.resize(m.hosts.size() + 1);
  auto const host_of_end = [&](NvlinkEnd const& end) {
    auto const* gpu = std::get_if<PciId>(&end);
    return gpu != nullptr ? m.host_of(*gpu) : m.at(std::get<SocketId>(end)).host;
  };
  auto const common = [](HostId a, HostId b) { return a == b ? std::optional(a) : std::nullopt; };
  static std::vector<Fabric::Attachment> const none;
  auto const first_domain =
      std::find_if(m.nvswitches.begin(), m.nvswitches.end(), [](NvSwitch const& domain) { return !domain.host; });
  auto const of_nodes = static_cast<std::size_t>(first_domain - m.nvswitches.begin());
  return set_firsts(first_, &First::socket, m.sockets, [](Socket const& socket) { return socket.host; }) &&
         set_firsts(first_, &First::numa, m.numa_nodes, [&](NumaNode const& numa) { return m.at(numa.socket).host; }) &&
         set_firsts(first_, &First::bridge, m.host_bridges,
                    [&](HostBridge const& bridge) {
                      return common(m.at(bridge.socket).host, m.at(m.at(bridge.numa).socket).host);
                    }) &&
         set_firsts(first_, &First::function, m.functions,
                    [&](PciFunction const& function) {
                      auto const host = m.at(m.at(function.host_bridge).socket).host;
                      return common(host, function.parent ? m.host_of(*function.parent) : host);
                    }) &&
         set_firsts(first_, &First::socket_link, m.socket_links,
                    [&](SocketLink const& link) { return common(m.at(link.a).host, m.at(link.b).host); }) &&
         set_firsts(first_, &First::nvlink, m.nvlinks,
                    [&](NvlinkBundle const& bundle) { return common(host_of_end(bundle.a), host_of_end(bundle.b)); }) &&
         set_firsts(first_, &First::nvswitch, std::span(m.nvswitches).first(of_nodes),
                    [&](NvSwitch const& domain) { return domain.host; }) &&
         set_firsts(first_, &First::measured, m.overrides,
                    [&](Override const& entry) { return common(m.host_of(entry.from), m.host_of(entry.to)); }) &&
         set_firsts(first_, &First::attachment, m.fabric ? m.fabric->attachments : none,
                    [&](Fabric::Attachment const& attachment) { return m.host_of(attachment.nic); });
}

Machine NodeSplit::only(std::span<HostId const> nodes) const {
  Machine result;
  result.name = machine_.name;
  result.title = machine_.title;
  result.notes = machine_.notes;
  result.parts = machine_.parts;
  if (machine_.fabric) {
    result.fabric = machine_.fabric;
    result.fabric->attachments.clear();
  }
  std::vector<First> firsts;
  for (auto const node : nodes) firsts.push_back(append(result, node));
  append_domains(result, nodes, firsts);
  return result;
}

Machine NodeSplit::alone(HostId node) const {
  auto machine = only(std::span(&node, 1));
  auto const prefix = machine.hosts.front().name + "/";
  auto const strip = [&](std::string& name) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  };
  for (auto& socket : machine.sockets) strip(socket.name);
  for (auto& numa : machine.numa_nodes) strip(numa.name);
  for (auto& bridge : machine.host_bridges) strip(bridge.name);
  for (auto& nvswitch : machine.nvswitches) strip(nvswitch.name);
  for (auto& function : machine.functions) {
    strip(function.name);
    strip(function.chip);
    strip(function.port_of);
  }
  for (auto& clique : machine.hosts.front().settings.virtualization.cliques)
    for (auto& name : clique) strip(name);
  std::erase_if(machine.nvswitches, [](NvSwitch const& domain) { return !domain.host; });
  machine.name = machine.hosts.front().machine;
  machine.title.clear();
  machine.notes.clear();
  machine.hosts.front().name.clear();
  machine.fabric.reset();
  return machine;
}

NodeSplit::First NodeSplit::append(Machine& to, HostId node) const {
  auto const& from = first_[index(node)];
  auto const& end = first_[index(node) + 1];
  First at;
  at.socket = to.sockets.size();
  at.numa = to.numa_nodes.size();
  at.bridge = to.host_bridges.size();
  at.function = to.functions.size();
  auto const host = HostId(to.hosts.size());
  to.hosts.push_back(machine_.at(node));
  for (auto i = from.socket; i < end.socket; ++i) to.sockets.emplace_back(machine_.sockets[i]).host = host;
  for (auto i = from.numa; i < end.numa; ++i) {
    auto& numa = to.numa_nodes.emplace_back(machine_.numa_nodes[i]);
    numa.socket = moved(numa.socket, from.socket, at.socket);
  }
  for (auto i = from.bridge; i < end.bridge; ++i) {
    auto& bridge = to.host_bridges.emplace_back(machine_.host_bridges[i]);
    bridge.socket = moved(bridge.socket, from.socket, at.socket);
    bridge.numa = moved(bridge.numa, from.numa, at.numa);
  }
  for (auto i = from.function; i < end.function; ++i) {
    auto& function = to.functions.emplace_back(machine_.functions[i]);
    if (function.parent) function.parent = moved(*function.parent, from.function, at.function);
    function.host_bridge = moved(function.host_bridge, from.bridge, at.bridge);
  }
  append_links(to, node, at);
  append_attachments(to, node, at);
  return at;
}

// Of each domain the ports of these nodes, and the domain only where there are any.
void NodeSplit::append_domains(Machine& to, std::span<HostId const> nodes, std::span<First const> firsts) const {
  for (auto const& domain : machine_.nvswitches) {
    if (domain.host) continue;
    auto copy = domain;
    copy.ports.clear();
    for (auto const& port : domain.ports) {
      auto const node = std::find(nodes.begin(), nodes.end(), machine_.host_of(port.gpu));
      if (node == nodes.end()) continue;
      auto const& at = firsts[static_cast<std::size_t>(node - nodes.begin())];
      copy.ports.push_back({moved(port.gpu, first_[index(*node)].function, at.function), port.count});
    }
    if (!copy.ports.empty()) to.nvswitches.push_back(std::move(copy));
  }
}

void NodeSplit::append_links(Machine& to, HostId node, First const& at) const {
  auto const& from = first_[index(node)];
  auto const& end = first_[index(node) + 1];
  auto const host = HostId(to.hosts.size() - 1);
  auto const function = [&](PciId id) { return moved(id, from.function, at.function); };
  auto const socket = [&](SocketId id) { return moved(id, from.socket, at.socket); };
  auto const nvlink_end = [&](NvlinkEnd const& of) -> NvlinkEnd {
    auto const* gpu = std::get_if<PciId>(&of);
    if (gpu != nullptr) return function(*gpu);
    return socket(std::get<SocketId>(of));
  };
  auto const place = [&](Place const& of) -> Place {
    auto const* id = std::get_if<PciId>(&of);
    if (id != nullptr) return function(*id);
    return moved(std::get<NumaId>(of), from.numa, at.numa);
  };
  for (auto i = from.socket_link; i < end.socket_link; ++i) {
    auto const& link = machine_.socket_links[i];
    to.socket_links.push_back({socket(link.a), socket(link.b), link.part, link.count});
  }
  for (auto i = from.nvlink; i < end.nvlink; ++i) {
    auto const& bundle = machine_.nvlinks[i];
    to.nvlinks.push_back({nvlink_end(bundle.a), nvlink_end(bundle.b), bundle.part, bundle.count});
  }
  for (auto i = from.nvswitch; i < end.nvswitch; ++i) {
    auto& domain = to.nvswitches.emplace_back(machine_.nvswitches[i]);
    domain.host = host;
    for (auto& port : domain.ports) port.gpu = function(port.gpu);
  }
  for (auto i = from.measured; i < end.measured; ++i) {
    auto& entry = to.overrides.emplace_back(machine_.overrides[i]);
    entry.from = place(entry.from);
    entry.to = place(entry.to);
  }
}

void NodeSplit::append_attachments(Machine& to, HostId node, First const& at) const {
  if (!machine_.fabric) return;
  auto const& from = first_[index(node)];
  for (auto i = from.attachment; i < first_[index(node) + 1].attachment; ++i) {
    auto attachment = machine_.fabric->attachments[i];
    attachment.nic = moved(attachment.nic, from.function, at.function);
    to.fabric->attachments.push_back(attachment);
  }
}

MachineOfPlaces machine_of(Machine machine, std::span<Place const> places) {
  MachineOfPlaces result{{}, {places.begin(), places.end()}};
  std::set<HostId> wanted;
  for (auto const& place : places) wanted.insert(machine.host_of(place));
  auto const split = wanted.size() < machine.hosts.size() ? NodeSplit::of(machine) : std::nullopt;
  if (!split) {
    result.machine = std::move(machine);
    return result;
  }
  std::vector<HostId> const nodes(wanted.begin(), wanted.end());
  result.machine = split->only(nodes);
  for (auto& place : result.places) {
    NodeSplit::First at;  // of the place's node in the result
    auto const host = machine.host_of(place);
    for (auto const node : nodes) {
      if (node == host) break;
      auto const& begin = split->first_of(node);
      auto const& end = split->first_of(HostId(index(node) + 1));
      at.function += end.function - begin.function;
      at.numa += end.numa - begin.numa;
    }
    if (auto* id = std::get_if<PciId>(&place))
      *id = moved(*id, split->first_of(host).function, at.function);
    else
      place = moved(std::get<NumaId>(place), split->first_of(host).numa, at.numa);
  }
  return result;
}

}  // namespace lanewise
