#include "core/view/machine/machine_json.hpp"

#include <nlohmann/json.hpp>

#include "core/machine/node_kinds.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

using Tree = nlohmann::ordered_json;

Tree fabric_tree(Machine const& machine, Fabric const& fabric) {
  Tree tree{{"kind", fabric.kind}};
  if (fabric.switch_part) tree["switch"] = machine.at(*fabric.switch_part).name;
  tree["leaves"] = Tree::array();
  for (auto const& leaf : fabric.leaves) {
    Tree item{{"leaf", leaf.name}};
    if (leaf.uplink) item["uplink"] = exact_text(*leaf.uplink);
    item["nics"] = Tree::array();
    tree["leaves"].push_back(std::move(item));
  }
  for (auto const& attachment : fabric.attachments) {
    Tree item{{"nic", machine.at(attachment.nic).name}};
    if (attachment.rate) item["rate"] = exact_text(*attachment.rate);
    tree["leaves"][attachment.leaf]["nics"].push_back(std::move(item));
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
  if (cluster.fabric) tree["fabric"] = fabric_tree(cluster, *cluster.fabric);
  return tree;
}

}  // namespace

nlohmann::ordered_json machine_json(Machine const& machine) {
  return machine.hosts.size() == 1 ? machine_tree(machine) : cluster_tree(machine);
}

}  // namespace lanewise
