#include "core/view/machine/machine_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/machine/node_kinds.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

using Tree = nlohmann::ordered_json;

Tree fabric_tree(Machine const& machine, Fabric const& fabric) {
  Tree tree{{"kind", fabric.kind}};
  if (!fabric.switches.empty() && fabric.switches.front().part)
    tree["switch"] = machine.at(*fabric.switches.front().part).name;
  if (fabric.routing != Routing::Adaptive) tree["routing"] = to_string(fabric.routing);
  if (fabric.flows_per_pair > 1) tree["flows_per_pair"] = fabric.flows_per_pair;
  tree["leaves"] = Tree::array();
  auto const lowest = std::count_if(fabric.switches.begin(), fabric.switches.end(),
                                    [](Fabric::Switch const& one) { return one.tier == 0; });
  for (std::uint32_t i = 0; i < lowest; ++i) {
    Tree item{{"leaf", fabric.switches[i].name}};
    if (auto const uplink = fabric.uplink(i)) item["uplink"] = exact_text(*uplink);
    item["nics"] = Tree::array();
    tree["leaves"].push_back(std::move(item));
  }
  for (auto const& attachment : fabric.attachments) {
    Tree item{{"nic", machine.at(attachment.nic).name}};
    if (attachment.rate) item["rate"] = exact_text(*attachment.rate);
    tree["leaves"][attachment.at]["nics"].push_back(std::move(item));
  }
  for (auto const& one : fabric.switches) {
    if (one.tier == 0) continue;
    Tree item{{"switch", one.name}, {"tier", one.tier}};
    if (one.count > 0) item["switches"] = one.count;
    if (one.part) item["part"] = machine.at(*one.part).name;
    tree["higher"].push_back(std::move(item));
  }
  for (auto const& trunk : fabric.trunks)
    tree["cables"].push_back({{"between", {fabric.switches[trunk.lower].name, fabric.switches[trunk.upper].name}},
                              {"count", trunk.cables},
                              {"rate", exact_text(trunk.rate)}});
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
  if (cluster.fabric) tree["fabric"] = fabric_tree(cluster, *cluster.fabric);
  return tree;
}

}  // namespace

nlohmann::ordered_json machine_json(Machine const& machine) {
  return machine.hosts.size() == 1 ? machine_tree(machine) : cluster_tree(machine);
}

}  // namespace lanewise
