#include "core/machine/node_kinds.hpp"

#include <algorithm>

namespace lanewise {
namespace {

// Splits a cluster into one Machine for each node in one pass. All ids become ids within the node, except part ids:
// they stay the cluster's until equal nodes are found, because copying every datasheet to 16384 nodes would cost more
// than the rest.
class Splitter {
 public:
  explicit Splitter(Machine const& cluster) : cluster_(cluster), nodes_(cluster.hosts.size()) {}

  std::vector<Machine> split() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) start_node(i);
    split_sockets();
    split_functions();
    split_links();
    split_overrides();
    return std::move(nodes_);
  }

 private:
  void start_node(std::size_t i) {
    auto host = cluster_.hosts[i];
    nodes_[i].name = host.machine;
    host.name.clear();
    nodes_[i].hosts.push_back(std::move(host));
  }

  void split_sockets() {
    for (auto socket : cluster_.sockets) {
      auto& node = nodes_[index(socket.host)];
      socket_ids_.push_back(SocketId(node.sockets.size()));
      socket.host = HostId{0};
      socket.name = short_name(socket.name);
      node.sockets.push_back(std::move(socket));
    }
    for (auto numa : cluster_.numa_nodes) {
      auto& node = node_of(numa.socket);
      numa_ids_.push_back(NumaId(node.numa_nodes.size()));
      numa.socket = local(numa.socket);
      numa.name = short_name(numa.name);
      node.numa_nodes.push_back(std::move(numa));
    }
    for (auto bridge : cluster_.host_bridges) {
      auto& node = node_of(bridge.socket);
      bridge_ids_.push_back(HostBridgeId(node.host_bridges.size()));
      bridge.socket = local(bridge.socket);
      bridge.numa = numa_ids_[index(bridge.numa)];
      bridge.name = short_name(bridge.name);
      node.host_bridges.push_back(std::move(bridge));
    }
  }

  void split_functions() {
    for (auto function : cluster_.functions) {
      auto const socket = cluster_.at(function.host_bridge).socket;
      auto& node = node_of(socket);
      function_ids_.push_back(PciId(node.functions.size()));
      if (function.parent) function.parent = local(*function.parent);
      function.host_bridge = bridge_ids_[index(function.host_bridge)];
      function.name = short_name(function.name);
      function.chip = short_name(function.chip);
      // What shares the port of another node's NIC has a port of its own where the node is looked at alone.
      bool const is_of_node = function.port_of.starts_with(cluster_.at(cluster_.at(socket).host).name + "/");
      function.port_of = is_of_node ? std::string(short_name(function.port_of)) : std::string();
      node.functions.push_back(std::move(function));
    }
  }

  void split_links() {
    for (auto link : cluster_.socket_links) {
      auto& node = node_of(link.a);
      link.a = local(link.a);
      link.b = local(link.b);
      node.socket_links.push_back(link);
    }
    for (auto const& bundle : cluster_.nvlinks)
      node_of(bundle.a).nvlinks.push_back({local(bundle.a), local(bundle.b), bundle.part, bundle.count});
    for (auto domain : cluster_.nvswitches) {
      if (!domain.host) continue;
      auto& node = nodes_[index(*domain.host)];
      domain.host = HostId{0};
      domain.name = short_name(domain.name);
      for (auto& port : domain.ports) port.gpu = local(port.gpu);
      node.nvswitches.push_back(std::move(domain));
    }
  }

  // An override between two nodes belongs to neither.
  void split_overrides() {
    for (auto entry : cluster_.overrides) {
      auto const host = cluster_.host_of(entry.from);
      if (cluster_.host_of(entry.to) != host) continue;
      entry.from = local(entry.from);
      entry.to = local(entry.to);
      nodes_[index(host)].overrides.push_back(std::move(entry));
    }
  }

  Machine& node_of(SocketId id) { return nodes_[index(cluster_.at(id).host)]; }
  Machine& node_of(NvlinkEnd const& end) {
    if (auto const* gpu = std::get_if<PciId>(&end)) return nodes_[index(cluster_.host_of(*gpu))];
    return node_of(std::get<SocketId>(end));
  }
  [[nodiscard]] SocketId local(SocketId id) const { return socket_ids_[index(id)]; }
  [[nodiscard]] PciId local(PciId id) const { return function_ids_[index(id)]; }
  [[nodiscard]] NvlinkEnd local(NvlinkEnd const& end) const {
    if (auto const* gpu = std::get_if<PciId>(&end)) return local(*gpu);
    return local(std::get<SocketId>(end));
  }
  [[nodiscard]] Place local(Place const& place) const {
    if (auto const* id = std::get_if<PciId>(&place)) return local(*id);
    return numa_ids_[index(std::get<NumaId>(place))];
  }

  Machine const& cluster_;
  std::vector<Machine> nodes_;
  // The id within its node, by the cluster's id.
  std::vector<SocketId> socket_ids_;
  std::vector<NumaId> numa_ids_;
  std::vector<HostBridgeId> bridge_ids_;
  std::vector<PciId> function_ids_;
};

}  // namespace

std::string_view short_name(std::string_view name) { return name.substr(name.find('/') + 1); }

std::vector<NodeKind> node_kinds(Machine const& machine) {
  if (machine.hosts.size() == 1) return {{machine, {HostId{0}}}};
  std::vector<NodeKind> kinds;
  auto nodes = Splitter(machine).split();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    auto const known =
        std::find_if(kinds.begin(), kinds.end(), [&](NodeKind const& kind) { return kind.machine == nodes[i]; });
    if (known != kinds.end())
      known->hosts.push_back(HostId(i));
    else
      kinds.push_back({std::move(nodes[i]), {HostId(i)}});
  }
  for (auto& kind : kinds) kind.machine.parts = machine.parts;
  return kinds;
}

}  // namespace lanewise
