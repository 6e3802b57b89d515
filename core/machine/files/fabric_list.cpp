#include "core/machine/files/fabric_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/machine/fabric_ways.hpp"
#include "core/machine/files/budgets.hpp"
#include "core/machine/files/fabric_reader.hpp"
#include "core/machine/files/fabric_union.hpp"
#include "core/machine/nic_port.hpp"
#include "core/machine/nvlink_domains.hpp"

namespace lanewise {
namespace {

// A node that neither cables nor NVLink between nodes join with the first, or nullopt.
std::optional<HostId> node_apart(Machine const& cluster) {
  std::vector<std::size_t> lowest(cluster.hosts.size());  // by node: one that it reaches
  auto const domains = first_nodes_of_domains(cluster);
  for (std::size_t node = 0; node < lowest.size(); ++node) lowest[node] = index(domains[node]);
  auto const root = [&](std::size_t node) {
    while (lowest[node] != node) node = lowest[node];
    return node;
  };
  if (cluster.fabric) {
    FabricWays const ways(*cluster.fabric);
    std::vector<std::size_t> joined(cluster.fabric->switches.size(), lowest.size());  // by island: one of its nodes
    for (auto const& attachment : cluster.fabric->attachments) {
      auto const node = index(cluster.host_of(attachment.nic));
      auto& known = joined[ways.island_of(attachment.at)];
      if (known == lowest.size()) known = node;
      auto const [low, high] = std::minmax({root(node), root(known)});
      lowest[high] = low;
    }
  }
  for (std::size_t node = 1; node < lowest.size(); ++node)
    if (root(node) != 0) return HostId(node);
  return std::nullopt;
}

// Each port of a NIC has one cable.
void check_that_nics_are_once(MapReader& top, Machine const& cluster) {
  auto const& fabric = *cluster.fabric;
  for (std::size_t i = 1; i < fabric.attachments.size(); ++i) {
    auto const& one = fabric.attachments[i - 1];
    auto const& other = fabric.attachments[i];
    if (one.nic != other.nic || fabric.switches[one.at].network == fabric.switches[other.at].network) continue;
    return top.fail_at_key(
        "fabrics",
        fmt::format("'{}' is on the fabrics '{}' and '{}'; say with 'nics' which are on each", cluster.at(one.nic).name,
                    fabric.network_of(one.at).name, fabric.network_of(other.at).name));
  }
}

// A cable joins two ports: an adapter that both nodes share has one.
void check_direct(MapReader& top, Machine const& cluster) {
  if (!cluster.fabric) return;
  for (auto const& attachment : cluster.fabric->attachments)
    if (cluster.fabric->network_of(attachment.at).kind == "direct" &&
        cluster.host_of(port_owner(cluster, attachment.nic)) != cluster.host_of(attachment.nic))
      return top.fail_at_key("multi_host",
                             fmt::format("'{}' shares its port with another node, so that no cable joins it "
                                         "directly; a fabric with a switch does",
                                         cluster.at(attachment.nic).name));
}

std::optional<std::string> name_of(MapReader& reader, Machine const& cluster) {
  auto const name = reader.text("fabric");
  if (!name) {
    if (!reader.has("fabric")) reader.fail(reader.self(), "each of 'fabrics' has a name: fabric: compute");
    return std::nullopt;
  }
  auto const is_taken = [&](auto const& named) { return named.name == *name; };
  if (std::any_of(cluster.hosts.begin(), cluster.hosts.end(), is_taken) ||
      (cluster.fabric && std::any_of(cluster.fabric->networks.begin(), cluster.fabric->networks.end(), is_taken))) {
    reader.fail(*reader.node("fabric"), fmt::format("the name '{}' is taken", *name));
    return std::nullopt;
  }
  return name;
}

void read_list(MapReader& top, PartTable& parts, Machine& cluster) {
  for (auto& reader : top.maps("fabrics")) {
    auto const name = name_of(reader, cluster);
    if (!name) continue;
    auto fabric = FabricReader(reader, parts, cluster, *name).read();
    if (!fabric) continue;
    if (!cluster.fabric) cluster.fabric.emplace();
    append(*cluster.fabric, std::move(*fabric));
  }
  if (cluster.fabric && top.diagnostics().empty()) check_that_nics_are_once(top, cluster);
}

}  // namespace

void read_fabrics(MapReader& top, PartTable& parts, Machine& cluster) {
  if (top.has("fabric") && top.has("fabrics"))
    return top.fail(*top.node("fabrics"),
                    "a cluster has 'fabric', the only one, or 'fabrics', a list of them; not both");
  if (auto fabric = top.map("fabric")) {
    if (fabric->has("fabric"))
      return fabric->fail(*fabric->node("fabric"),
                          "the only fabric needs no name: leave 'fabric' out, or write 'fabrics'");
    cluster.fabric = FabricReader(*fabric, parts, cluster, "").read();
  }
  read_list(top, parts, cluster);
  if (!top.diagnostics().empty()) return;
  if (top.has("fabrics") && !cluster.fabric)
    return top.fail_at_key("fabrics", "'fabrics' is empty; leave it out where domains join all nodes");
  check_direct(top, cluster);
  auto const apart = node_apart(cluster);
  if (!apart) return;
  auto const& first = cluster.hosts.front().name;
  auto const& other = cluster.at(*apart).name;
  if (!cluster.fabric)
    return top.fail(top.self(), fmt::format("nothing joins {} and {}: add 'fabric', the network between the nodes, "
                                            "or 'domains', NVLink between them",
                                            first, other));
  top.fail_at_key(top.has("fabric") ? "fabric" : "fabrics",
                  fmt::format("nothing joins {} with {}: no NIC of the one reaches one of the other", other, first));
}

}  // namespace lanewise
