#include "core/view/machine/machine_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/machine/nic_port.hpp"
#include "core/machine/node_kinds.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

using Tree = nlohmann::ordered_json;

Tree switches_tree(Machine const& machine, std::uint32_t network) {
  auto const& fabric = *machine.fabric;
  Tree tree;
  tree["leaves"] = Tree::array();
  std::vector<std::size_t> place(fabric.switches.size());  // of a leaf, in the list
  for (std::uint32_t i = 0; i < fabric.switches.size(); ++i) {
    auto const& one = fabric.switches[i];
    if (one.network != network) continue;
    if (one.tier == 0) {
      Tree item{{"leaf", one.name}};
      if (auto const uplink = fabric.uplink(i)) item["uplink"] = exact_text(*uplink);
      item["nics"] = Tree::array();
      place[i] = tree["leaves"].size();
      tree["leaves"].push_back(std::move(item));
      continue;
    }
    Tree item{{"switch", one.name}, {"tier", one.tier}};
    if (one.count > 0) item["switches"] = one.count;
    if (one.part) item["part"] = machine.at(*one.part).name;
    tree["higher"].push_back(std::move(item));
  }
  for (auto const& attachment : fabric.attachments) {
    if (fabric.switches[attachment.at].network != network) continue;
    Tree item{{"nic", machine.at(attachment.nic).name}};
    if (attachment.rate) item["rate"] = exact_text(*attachment.rate);
    tree["leaves"][place[attachment.at]]["nics"].push_back(std::move(item));
  }
  for (auto const& trunk : fabric.trunks)
    if (fabric.switches[trunk.lower].network == network)
      tree["cables"].push_back({{"between", {fabric.switches[trunk.lower].name, fabric.switches[trunk.upper].name}},
                                {"count", trunk.cables},
                                {"rate", exact_text(trunk.rate)}});
  return tree;
}

// Adapters that several nodes share, by the NIC that owns the port.
Tree multi_host_tree(Machine const& machine) {
  Tree tree = Tree::array();
  for (auto const& [owner, others] : shared_adapters(machine)) {
    Tree nics = Tree::array({machine.at(owner).name});
    for (auto const nic : others) nics.push_back(machine.at(nic).name);
    tree.push_back({{"nics", std::move(nics)}});
  }
  return tree;
}

Tree fabric_tree(Machine const& machine, std::uint32_t number) {
  auto const& fabric = *machine.fabric;
  auto const& network = fabric.networks[number];
  Tree tree;
  if (!network.name.empty()) tree["fabric"] = network.name;
  tree["kind"] = network.kind;
  auto const first = std::find_if(fabric.switches.begin(), fabric.switches.end(),
                                  [&](Fabric::Switch const& one) { return one.network == number; });
  if (first != fabric.switches.end() && first->part) tree["switch"] = machine.at(*first->part).name;
  if (network.routing != Routing::Adaptive) tree["routing"] = to_string(network.routing);
  if (network.flows_per_pair > 1) tree["flows_per_pair"] = network.flows_per_pair;
  tree.update(switches_tree(machine, number));
  return tree;
}

Tree domains_tree(Machine const& machine) {
  Tree tree = Tree::array();
  for (auto const& domain : machine.nvswitches) {
    if (domain.host) continue;
    Tree item{{"domain", domain.name},
              {"switch_part", machine.at(domain.part).name},
              {"part", machine.at(domain.link_part).name},
              {"gpus", Tree::array()}};
    if (domain.chips > 0) item["chips"] = domain.chips;
    for (auto const& port : domain.ports)
      item["gpus"].push_back({{"gpu", machine.at(port.gpu).name}, {"count", port.count}});
    tree.push_back(std::move(item));
  }
  return tree;
}

Tree cluster_tree(Machine const& cluster) {
  Tree tree{{"lanewise", "cluster-view/1"}, {"cluster", cluster.name}};
  if (!cluster.title.empty()) tree["title"] = cluster.title;
  if (!cluster.notes.empty()) tree["notes"] = cluster.notes;
  tree["machines"] = Tree::array();
  for (auto const& kind : node_kinds(cluster)) {
    Tree item{{"nodes", Tree::array()}, {"machine", machine_tree(kind.machine)}};
    for (auto const host : kind.hosts) item["nodes"].push_back(cluster.at(host).name);
    tree["machines"].push_back(std::move(item));
  }
  if (auto domains = domains_tree(cluster); !domains.empty()) tree["domains"] = std::move(domains);
  if (auto adapters = multi_host_tree(cluster); !adapters.empty()) tree["multi_host"] = std::move(adapters);
  if (!cluster.fabric) return tree;
  if (cluster.fabric->networks.size() == 1) {
    tree["fabric"] = fabric_tree(cluster, 0);
    return tree;
  }
  for (std::uint32_t i = 0; i < cluster.fabric->networks.size(); ++i)
    tree["fabrics"].push_back(fabric_tree(cluster, i));
  return tree;
}

}  // namespace

nlohmann::ordered_json machine_json(Machine const& machine) {
  return machine.hosts.size() == 1 ? machine_tree(machine) : cluster_tree(machine);
}

}  // namespace lanewise
