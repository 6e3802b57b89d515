// Reads a cluster file: puts all nodes into one Machine, each name prefixed by its node, and joins their NICs by a
// fabric.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/io/spelling.hpp"
#include "core/machine/files/budgets.hpp"
#include "core/machine/files/machine_spec.hpp"
#include "core/machine/files/settings_reader.hpp"
#include "core/machine/nic_rate.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise {
namespace {

constexpr int kMaxClusterNodes = 4096;

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
      NvSwitch copy{prefix + domain.name, host, *part(domain.part), *part(domain.link_part), {}};
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
    if (auto fabric = top.map("fabric")) read_fabric(*fabric);
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

  // The NICs on the fabric, node by node in file order.
  std::vector<std::vector<PciId>> fabric_nics(MapReader& reader) {
    std::vector<std::string> wanted;
    for (auto const& text : reader.texts("nics")) {
      try {
        for (auto& name : expand_range(text)) wanted.push_back(std::move(name));
      } catch (InputError const& error) {
        reader.fail(*reader.node("nics"), error.what());
      }
    }
    std::set<std::string> unknown(wanted.begin(), wanted.end());
    std::vector<std::vector<PciId>> nics(cluster_.hosts.size());
    for (auto const id : cluster_.all(PciKind::Nic)) {
      auto const& function = cluster_.at(id);
      auto const short_name = function.name.substr(function.name.find('/') + 1);
      unknown.erase(short_name);
      auto const* part = cluster_.part_of(id);
      bool const on_fabric = wanted.empty() ? part != nullptr && part->nic.rdma
                                            : std::find(wanted.begin(), wanted.end(), short_name) != wanted.end();
      if (on_fabric) nics[index(cluster_.host_of(id))].push_back(id);
    }
    for (auto const& name : unknown)
      reader.fail(*reader.node("nics"), fmt::format("no machine here has a NIC called '{}'", name));
    for (std::size_t i = 0; i < nics.size(); ++i)
      if (nics[i].empty()) {
        reader.fail_at_key("kind", fmt::format("{} has no NIC on the fabric", cluster_.hosts[i].name));
        break;
      }
    return nics;
  }

  void read_fabric(MapReader& reader) {
    Fabric fabric;
    fabric.kind = reader.text("kind").value_or("");
    if (auto const name = reader.text("switch")) fabric.switch_part = switch_part(reader, *name);
    auto const nics = fabric_nics(reader);
    bool const rails = fabric.kind == "rail_optimised";
    bool const spines = rails || fabric.kind == "leaf_spine";
    auto const nodes = cluster_.hosts.size();
    auto const group =
        spines ? static_cast<std::size_t>(reader.count("nodes_per_leaf").value_or(static_cast<int>(nodes))) : nodes;
    if (group == 0) return reader.fail(*reader.node("nodes_per_leaf"), "'nodes_per_leaf' must be at least 1");
    if (fabric.kind == "direct" && nodes != 2)
      reader.fail(*reader.node("kind"), fmt::format("'direct' joins two nodes; here are {}", nodes));
    std::map<std::string, std::uint32_t> leaf_of;
    for (std::size_t node = 0; node < nodes; ++node) {
      for (std::size_t rail = 0; rail < nics[node].size(); ++rail) {
        auto const nic = nics[node][rail];
        auto& function = cluster_.functions[index(nic)];
        if (!function.rail) function.rail = static_cast<int>(rail);
        auto const name =
            rails ? fmt::format("leaf{}.rail{}", node / group, *function.rail) : fmt::format("leaf{}", node / group);
        auto const [it, fresh] = leaf_of.emplace(name, static_cast<std::uint32_t>(fabric.leaves.size()));
        if (fresh) fabric.leaves.push_back({name, std::nullopt});
        fabric.attachments.push_back({nic, it->second, std::nullopt});
      }
    }
    for (auto& override_reader : reader.maps("link_overrides")) read_cable(override_reader, fabric);
    if (spines) set_uplinks(reader, fabric);
    cluster_.fabric = std::move(fabric);
    for (auto const& sentence : exceeded_ports(cluster_)) reader.fail_at_key("switch", sentence);
  }

  void set_uplinks(MapReader& reader, Fabric& fabric) {
    auto const cables = reader.count("uplinks");
    auto const cable_rate = reader.rate("uplink_rate");
    if (cables && *cables == 0) reader.fail(*reader.node("uplinks"), "'uplinks' must be at least 1");
    for (std::size_t leaf = 0; leaf < fabric.leaves.size(); ++leaf) {
      BytesPerSecond attached{0};
      BytesPerSecond fastest{0};
      for (auto const& a : fabric.attachments) {
        if (a.leaf != leaf) continue;
        auto const rate = nic_rate(cluster_, a.nic).value_or(BytesPerSecond(0));
        attached += rate;
        fastest = std::max(fastest, rate);
      }
      auto const one = cable_rate.value_or(fastest);
      fabric.leaves[leaf].uplink = cables ? one * static_cast<double>(*cables) : attached;
    }
  }

  void read_cable(MapReader& reader, Fabric& fabric) {
    auto const name = reader.text("nic");
    auto const rate = reader.rate("rate");
    if (!name || !rate) return;
    for (auto& attachment : fabric.attachments)
      if (cluster_.at(attachment.nic).name == *name) {
        attachment.rate = rate;
        return;
      }
    reader.fail(*reader.node("nic"), fmt::format("no NIC on the fabric is called '{}'; write it as node0/nic0", *name));
  }

  std::optional<PartId> switch_part(MapReader& reader, std::string const& name) {
    auto const* found = catalogue_.part(name);
    if (found == nullptr || found->kind != PartKind::NetworkSwitch) {
      reader.fail(*reader.node("switch"), fmt::format("no network switch part is called '{}'{}", name,
                                                      did_you_mean(name, catalogue_.part_names())));
      return std::nullopt;
    }
    cluster_.parts.push_back(*found);
    return PartId(cluster_.parts.size() - 1);
  }

  SourceText const& source_;
  Catalogue& catalogue_;
  Diagnostics diagnostics_;
  Machine cluster_;
};

}  // namespace

Machine read_cluster(SourceText const& source, Catalogue& catalogue) { return ClusterReader(source, catalogue).read(); }

}  // namespace lanewise
