// Reads a cluster file: puts all nodes into one Machine, each name prefixed by its node, and joins their NICs by a
// fabric.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/machine/files/domain_reader.hpp"
#include "core/machine/files/fabric_list.hpp"
#include "core/machine/files/key_values.hpp"
#include "core/machine/files/machine_spec.hpp"
#include "core/machine/files/part_table.hpp"
#include "core/machine/files/settings_reader.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise {
namespace {

constexpr int kMaxClusterNodes = 16384;

template <class Id>
Id shifted(Id id, std::size_t by) {
  return Id(index(id) + by);
}

// Appends one node's machine to the cluster.
class NodeAppender {
 public:
  NodeAppender(Machine& cluster, Machine const& node) : cluster_(cluster), node_(node) {
    for (auto const& part : node.parts) part_ids_.push_back(add(part));
  }

  void append(int number) {
    auto const prefix = fmt::format("node{}/", number);
    auto const host = HostId(cluster_.hosts.size());
    auto const sockets = cluster_.sockets.size();
    auto const numas = cluster_.numa_nodes.size();
    auto const bridges = cluster_.host_bridges.size();
    auto const functions = cluster_.functions.size();
    auto const part = [&](std::optional<PartId> id) {
      return id ? std::optional(part_ids_[index(*id)]) : std::nullopt;
    };
    auto const pci = [&](PciId id) { return shifted(id, functions); };

    cluster_.hosts.push_back(node_.hosts.front());
    cluster_.hosts.back().name = fmt::format("node{}", number);
    for (auto const& socket : node_.sockets)
      cluster_.sockets.push_back({prefix + socket.name, host, part(socket.part)});
    for (auto const& numa : node_.numa_nodes)
      cluster_.numa_nodes.push_back({prefix + numa.name, shifted(numa.socket, sockets), numa.os_index, numa.cores});
    for (auto const& bridge : node_.host_bridges)
      cluster_.host_bridges.push_back(
          {prefix + bridge.name, shifted(bridge.socket, sockets), shifted(bridge.numa, numas)});
    for (auto const& function : node_.functions) {
      auto& copy = cluster_.functions.emplace_back(function);
      copy.name = prefix + function.name;
      if (!function.chip.empty()) copy.chip = prefix + function.chip;
      if (!function.port_of.empty()) copy.port_of = prefix + function.port_of;
      if (function.parent) copy.parent = pci(*function.parent);
      copy.host_bridge = shifted(function.host_bridge, bridges);
      copy.part = part(function.part);
    }
    for (auto const& link : node_.socket_links)
      cluster_.socket_links.push_back(
          {shifted(link.a, sockets), shifted(link.b, sockets), *part(link.part), link.count});
    auto const end = [&](NvlinkEnd const& e) -> NvlinkEnd {
      if (auto const* gpu = std::get_if<PciId>(&e)) return pci(*gpu);
      return shifted(std::get<SocketId>(e), sockets);
    };
    for (auto const& bundle : node_.nvlinks)
      cluster_.nvlinks.push_back({end(bundle.a), end(bundle.b), *part(bundle.part), bundle.count});
    for (auto const& domain : node_.nvswitches) {
      NvSwitch copy{prefix + domain.name, host, *part(domain.part), *part(domain.link_part), {}, 0};
      for (auto const& port : domain.ports) copy.ports.push_back({pci(port.gpu), port.count});
      cluster_.nvswitches.push_back(std::move(copy));
    }
    auto const place = [&](Place const& p) -> Place {
      if (auto const* id = std::get_if<PciId>(&p)) return pci(*id);
      return shifted(std::get<NumaId>(p), numas);
    };
    for (auto entry : node_.overrides) {
      entry.from = place(entry.from);
      entry.to = place(entry.to);
      cluster_.overrides.push_back(std::move(entry));
    }
  }

 private:
  // By value: nodes of different machines may have different parts of one name.
  PartId add(Part const& part) {
    for (std::size_t i = 0; i < cluster_.parts.size(); ++i)
      if (cluster_.parts[i] == part) return PartId(i);
    cluster_.parts.push_back(part);
    return PartId(cluster_.parts.size() - 1);
  }

  Machine& cluster_;
  Machine const& node_;
  std::vector<PartId> part_ids_;
};

class ClusterReader {
 public:
  ClusterReader(SourceText const& source, Catalogue& catalogue) : source_(source), catalogue_(catalogue) {}

  Machine read() {
    auto const root = parse_yaml(source_);
    expect_schema(root, "cluster/1", source_);
    MapReader top(root, cluster_spec(), source_, diagnostics_);
    cluster_.name = top.text("cluster").value_or("");
    cluster_.title = top.text("title").value_or("");
    cluster_.notes = top.texts("notes");
    for (auto& entry : top.maps("nodes")) read_nodes(entry);
    if (cluster_.hosts.empty() && diagnostics_.empty()) top.fail_at_key("nodes", "a cluster has at least one node");
    diagnostics_.throw_if_any();  // a fabric needs its nodes
    if (auto settings = top.map("settings")) {
      for (auto& host : cluster_.hosts) {
        read_settings(*settings, host.settings);
        diagnostics_.throw_if_any();  // once, and not for every node
      }
    }
    check_cliques(top);
    for (auto& adapter : top.maps("multi_host")) read_adapter(adapter);
    diagnostics_.throw_if_any();
    parts_.read_inline(top);
    for (auto& domain : top.maps("domains")) DomainReader(domain, parts_, cluster_).read();
    read_fabrics(top, parts_, cluster_);
    diagnostics_.throw_if_any();
    return std::move(cluster_);
  }

 private:
  void read_nodes(MapReader& reader) {
    auto const name = reader.text("machine");
    auto const count = reader.count("count");
    if (!name || !count) return;
    if (*count < 1 || static_cast<int>(cluster_.hosts.size()) + *count > kMaxClusterNodes)
      return reader.fail(*reader.node("count"), fmt::format("a cluster has 1 to {} nodes", kMaxClusterNodes));
    Machine node;
    try {
      node = catalogue_.node_machine(*name, source_.name());
    } catch (InputError const& error) {
      return reader.fail(*reader.node("machine"), error.what());
    }
    for (auto const& note : node.notes) {
      auto text = fmt::format("{}: {}", node.name, note);
      if (std::find(cluster_.notes.begin(), cluster_.notes.end(), text) == cluster_.notes.end())
        cluster_.notes.push_back(std::move(text));
    }
    NodeAppender appender(cluster_, node);
    for (int i = 0; i < *count; ++i) appender.append(static_cast<int>(cluster_.hosts.size()));
  }

  // A NIC of each of several nodes, which share the port of the first.
  void read_adapter(MapReader& reader) {
    std::vector<PciId> nics;
    for (auto const& name : expanded_names(reader, "nics")) {
      auto const nic = cluster_.find_function(name);
      if (!nic || cluster_.at(*nic).kind != PciKind::Nic)
        return reader.fail_at_key("nics", fmt::format("no NIC is called '{}'; write it as node0/nic0", name));
      auto const is_of_same_node = [&](PciId other) { return cluster_.host_of(other) == cluster_.host_of(*nic); };
      if (std::any_of(nics.begin(), nics.end(), is_of_same_node))
        return reader.fail_at_key("nics", fmt::format("'{}' is the second NIC of its node; in a machine file 'port_of' "
                                                      "says that two share a port",
                                                      name));
      if (!cluster_.at(*nic).port_of.empty() || shares_its_port_[*nic])
        return reader.fail_at_key("nics", fmt::format("'{}' shares a port already", name));
      nics.push_back(*nic);
    }
    if (nics.size() < 2) return reader.fail_at_key("nics", "an adapter of several nodes has two NICs or more");
    for (auto const nic : nics) {
      shares_its_port_[nic] = true;
      if (nic != nics.front()) cluster_.functions[index(nic)].port_of = cluster_.at(nics.front()).name;
    }
  }

  void check_cliques(MapReader const& top) {
    for (auto const& host : cluster_.hosts)
      for (auto const& clique : host.settings.virtualization.cliques)
        for (auto const& name : clique) {
          auto const gpu = cluster_.find_function(host.name + "/" + name);
          if (gpu && cluster_.at(*gpu).kind == PciKind::Gpu) continue;
          return top.fail_at_key("settings",
                                 fmt::format("the clique names '{}', which is not a GPU of {}", name, host.name));
        }
  }

  SourceText const& source_;
  Catalogue& catalogue_;
  PartTable parts_{catalogue_};
  Diagnostics diagnostics_;
  Machine cluster_;
  std::map<PciId, bool> shares_its_port_;  // with NICs of other nodes
};

}  // namespace

Machine read_cluster(SourceText const& source, Catalogue& catalogue) { return ClusterReader(source, catalogue).read(); }

}  // namespace lanewise
