// The keys of cluster files, mapping by mapping.
#include "core/machine/files/field_specs.hpp"
#include "core/machine/files/machine_spec.hpp"
#include "core/machine/machine_fields.hpp"

namespace lanewise {
namespace {

FieldSpec ratio_field(std::string name, std::string doc) {
  return {.name = std::move(name), .type = ValueType::Ratio, .doc = std::move(doc)};
}

MapSpec const& tier_spec() {
  static MapSpec const spec{
      "tier",
      {id_field("tier", "the name of its switches: leaf, pod, core", true),
       id_field("switch", "their network switch part; default: the fabric's"),
       count_field("joins", "of the lowest tier: nodes; of others: groups of the tier below; default: all"),
       count_field("switches", "of a tier above the lowest: how many switches join one such group"),
       count_field("uplinks", "cables from a switch, or a group of them, to the tier above"),
       rate_field("uplink_rate", "of one of those cables; default: as the cables below"),
       ratio_field("oversubscription",
                   "instead of 'uplinks': what comes from below over what goes up; default: 1 (non-blocking)")}};
  return spec;
}

MapSpec const& switches_spec() {
  static MapSpec const spec{"switches",
                            {text_field("switch", "a name, or a range of them: s0..s15", true),
                             id_field("part", "their network switch part; default: the fabric's"),
                             names_field("nics", "the NICs on it: node0/nic0..node3/nic0")}};
  return spec;
}

MapSpec const& links_spec() {
  static MapSpec const spec{"link",
                            {names_field("between", "two switches", true), count_field("count", "how many; default: 1"),
                             rate_field("rate", "of one; default: the fastest NIC's")}};
  return spec;
}

MapSpec const& link_override_spec() {
  static MapSpec const spec{
      "link override",
      {id_field("nic", "node3/nic2", true),
       {.name = "rate", .type = ValueType::Rate, .doc = "what its cable runs at", .required = true}}};
  return spec;
}

MapSpec const& fabric_spec() {
  static MapSpec const spec{
      "fabric",
      {id_field("fabric", "in a list of fabrics, its name: compute, storage, front_end"),
       {.name = "kind",
        .type = ValueType::Word,
        .doc = "how NICs are joined",
        .required = true,
        .words = {"direct", "single_switch", "leaf_spine", "rail_optimised", "rail_only", "fat_tree", "torus",
                  "dragonfly", "graph"}},
       id_field("switch", "the network switch part"),
       count_field("nodes_per_leaf",
                   "nodes that share a switch of the lowest tier (leaf_spine, torus, dragonfly), or such a switch for "
                   "each rail (rail_optimised, rail_only)"),
       count_field("uplinks", "cables from a leaf to the spines; default: as many as it has NICs (non-blocking)"),
       rate_field("uplink_rate", "of one of those cables; default: the NICs' rate"),
       ratio_field("oversubscription", "instead of 'uplinks': what its NICs carry over what its uplinks do"),
       list_of("tiers", "of a fat_tree: from the lowest to the highest", &tier_spec()),
       flag_field("by_rail", "of a fat_tree: each rail has leaf switches of its own; default: false"),
       count_field("planes",
                   "how many times its switches are there, not joined with one another: each NIC has a port for each, "
                   "which has that part of its rate; default: 1"),
       {.name = "dimensions",
        .type = ValueType::List,
        .doc = "of a torus: switches in each dimension, [4, 4, 8]",
        .item = ValueType::Count},
       count_field("groups", "of a dragonfly: how many groups of switches"),
       count_field("switches_per_group", "of a dragonfly: all of a group are joined with one another"),
       count_field("cables", "between two neighbours in a torus, or two switches of a group; default: 1"),
       count_field("global_cables", "of a dragonfly: between two groups; default: 1"),
       rate_field("cable_rate", "of one cable between switches of a torus or dragonfly; default: the fastest NIC's"),
       list_of("switches", "of a graph: the switches, and which NICs are on them", &switches_spec()),
       list_of("links", "of a graph: the cables between switches", &links_spec()),
       {.name = "routing",
        .type = ValueType::Word,
        .doc = "how traffic is divided among cables that lead to the same place; default: adaptive (evenly); of a "
               "dragonfly also valiant, by way of all other groups",
        .words = {"adaptive", "static", "ecmp", "valiant"}},
       count_field("flows_per_pair", "with ecmp: how many flows the traffic between two NICs consists of; default: 1"),
       names_field(
           "nics",
           "the NICs that are on the fabric: nic0..nic7 of every node that has them, or node0/nic0..node3/nic7; "
           "default: all that can do RDMA"),
       list_of("link_overrides", "cables of NICs that run slower", &link_override_spec())}};
  return spec;
}

MapSpec const& adapter_spec() {
  static MapSpec const spec{
      "adapter",
      {names_field("nics", "the NICs of the nodes, [node0/nic0, node1/nic0]; the first of them is on the fabric",
                   true)}};
  return spec;
}

MapSpec const& domain_spec() {
  static MapSpec const spec{
      "domain",
      {id_field("domain", "its name: rack0", true),
       names_field("nodes", "the nodes it joins: node0..node17; default: all"),
       names_field("gpus", "which GPUs of each node; default: all"),
       id_field("switch_part", "the NVSwitch, or another switch of the kind nvswitch", true),
       count_field("chips", "how many of these switches: with the part's ports a limit on the links"),
       count_field("generation", "NVLink generation 1 to 5; stands for the part nvlink-N"),
       id_field("part", "another link (xgmi-gpu-...)"), count_field("count", "links from each GPU", true)}};
  return spec;
}

}  // namespace

MapSpec const& cluster_spec() {
  static MapSpec const node{"nodes",
                            {id_field("machine", "a bundled machine or a file beside this one", true),
                             count_field("count", "how many", true)}};
  static MapSpec const spec{
      "cluster",
      {schema_field("cluster/1"),
       id_field("cluster", "its name", true),
       text_field("title", "its title, for display"),
       names_field("notes", "what was inferred, or is unknown"),
       {.name = "settings",
        .type = ValueType::Map,
        .doc = "of every node, over the machine's own",
        .map = &settings_spec()},
       {.name = "parts",
        .type = ValueType::Dictionary,
        .doc = "parts described here instead of in the catalogue",
        .item = ValueType::Map},
       {.name = "nodes",
        .type = ValueType::List,
        .doc = "machines and how many of each",
        .required = true,
        .map = &node,
        .item = ValueType::Map},
       list_of("multi_host", "adapters that several nodes share: each has a NIC of its own, all have one port",
               &adapter_spec()),
       list_of("domains", "NVLink, xGMI or UALink that joins GPUs of several nodes through switches", &domain_spec()),
       {.name = "fabric",
        .type = ValueType::Map,
        .doc = "the network between the nodes; may be left out where a domain joins them",
        .map = &fabric_spec()},
       list_of("fabrics",
               "several networks, in the place of 'fabric'; a transfer takes the first of them that joins both nodes",
               &fabric_spec())}};
  return spec;
}

}  // namespace lanewise
