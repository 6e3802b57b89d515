// The keys of machine and cluster files, mapping by mapping.
#include <iterator>
#include <utility>

#include "core/machine/files/machine_spec.hpp"
#include "core/machine/machine_fields.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise {
namespace {

FieldSpec schema_field(std::string const& word) {
  return {.name = "lanewise", .type = ValueType::Word, .doc = word, .required = true, .words = {word}};
}
FieldSpec id(std::string name, std::string doc, bool required = false) {
  return {.name = std::move(name), .type = ValueType::Id, .doc = std::move(doc), .required = required};
}
FieldSpec count(std::string name, std::string doc, bool required = false) {
  return {.name = std::move(name), .type = ValueType::Count, .doc = std::move(doc), .required = required};
}
FieldSpec rate(std::string name, std::string doc) {
  return {.name = std::move(name), .type = ValueType::Rate, .doc = std::move(doc)};
}
FieldSpec list_of(std::string name, std::string doc, MapSpec const* map) {
  return {.name = std::move(name), .type = ValueType::List, .doc = std::move(doc), .map = map, .item = ValueType::Map};
}
FieldSpec names(std::string name, std::string doc, bool required = false) {
  return {.name = std::move(name),
          .type = ValueType::List,
          .doc = std::move(doc),
          .required = required,
          .item = ValueType::Text};
}
// The specs of a table's fields.
template <class Fields>
std::vector<FieldSpec> specs_of(Fields const& fields) {
  std::vector<FieldSpec> specs;
  for (auto const& field : fields) specs.push_back(field.spec);
  return specs;
}

MapSpec const& settings_spec() {
  static auto const spec = [] {
    MapSpec made{"settings", specs_of(settings_fields())};
    made.fields.push_back({.name = "virtualization",
                           .type = ValueType::Custom,
                           .doc = "none, passthrough, or a mapping",
                           .map = &virtualization_spec(),
                           .pattern = "^(none|passthrough)$"});
    return made;
  }();
  return spec;
}

MapSpec const& software_spec() {
  static MapSpec const spec{"software", specs_of(software_fields())};
  return spec;
}

MapSpec const& numa_spec() {
  static MapSpec const spec{"NUMA node", specs_of(numa_fields())};
  return spec;
}

MapSpec const& socket_spec() {
  static MapSpec const spec{
      "socket",
      {id("socket", "its name", true), id("part", "the CPU, or unknown"),
       list_of("numa", "its NUMA nodes; default: one, numbered as the socket", &numa_spec()),
       list_of("pcie", "its root ports, and devices on the root bus of a flat tree", &port_spec())}};
  return spec;
}

MapSpec const& socket_link_spec() {
  static MapSpec const spec{"socket link",
                            {names("between", "the two sockets", true), id("part", "the link (upi-11.2)", true),
                             count("count", "links bonded")}};
  return spec;
}

MapSpec const& nvlink_spec() {
  static MapSpec const spec{
      "NVLink",
      {names("between", "two ends: GPUs, or a GPU and a socket"), id("switch", "an NVSwitch crossbar instead, by name"),
       names("gpus", "the GPUs on the switch; gpu0..gpu7 is a range"), id("switch_part", "the NVSwitch"),
       count("generation", "NVLink generation 1 to 5; stands for the part nvlink-N"),
       id("part", "another link (nvlink-c2c, xgmi-gpu-...)"),
       count("count", "links bonded between the two ends, or from each GPU to the switch", true)}};
  return spec;
}

MapSpec const& override_spec() {
  static auto const spec = [] {
    MapSpec made{"override", {id("from", "where the data is", true), id("to", "where it goes", true)}};
    for (auto& field : specs_of(override_fields())) made.fields.push_back(std::move(field));
    return made;
  }();
  return spec;
}

}  // namespace

MapSpec const& virtualization_spec() {
  static auto const spec = [] {
    MapSpec made{"virtualization", specs_of(virtualization_fields())};
    std::vector<FieldSpec> const cliques{
        names("clique", "GPUs announced as peers by the approval capability (x-nv-gpudirect-clique)"),
        {.name = "cliques",
         .type = ValueType::List,
         .doc = "several such groups, each a list of GPUs",
         .item = ValueType::Custom}};
    auto const ats = std::prev(made.fields.end());
    made.fields.insert(ats, cliques.begin(), cliques.end());
    return made;
  }();
  return spec;
}

MapSpec const& port_spec() {
  static MapSpec const* const spec = [] {
    auto const function = [](std::string_view name) { return field_named(function_fields(), name).spec; };
    auto* made = new MapSpec{
        "port",
        {id("root_port", "name of the root port; only directly under a socket"), function("link"), function("max"),
         function("acs"), id("switch", "a PCIe switch of this name"), id("gpu", "a GPU of this name"),
         id("nic", "a NIC of this name"), id("nvme", "an NVMe drive of this name"),
         id("device", "another endpoint of this name"), id("part", "its part, or unknown"), function("bdf"),
         id("host_bridge", "of a root port: root ports with the same one share a PCI host bridge"),
         count("numa", "of a root port: its NUMA node, where the socket has several")}};
    for (auto& field : specs_of(function_fields()))
      if (made->find(field.name) == nullptr) made->fields.push_back(std::move(field));
    made->fields.push_back(list_of("ports", "of a switch: its downstream ports", made));
    return made;
  }();
  return *spec;
}

MapSpec const& machine_spec() {
  static MapSpec const spec{
      "machine",
      {schema_field("machine/1"),
       id("machine", "its name", true),
       text_field("title", "the product's name, for display"),
       names("notes", "what was inferred, or is unknown"),
       {.name = "settings",
        .type = ValueType::Map,
        .doc = "defaults; a port may override acs",
        .map = &settings_spec()},
       {.name = "parts",
        .type = ValueType::Dictionary,
        .doc = "parts described here instead of in the catalogue",
        .item = ValueType::Map},
       {.name = "sockets",
        .type = ValueType::List,
        .doc = "CPU sockets with the PCI trees under them",
        .required = true,
        .map = &socket_spec(),
        .item = ValueType::Map},
       list_of("socket_links", "links between sockets", &socket_link_spec()),
       list_of("nvlinks", "NVLink, C2C and xGMI between GPUs and CPUs", &nvlink_spec()),
       {.name = "software", .type = ValueType::Map, .doc = "what is installed", .map = &software_spec()},
       list_of("overrides", "measured figures that replace predictions", &override_spec())}};
  return spec;
}

MapSpec const& cluster_spec() {
  static MapSpec const node{
      "nodes", {id("machine", "a bundled machine or a file beside this one", true), count("count", "how many", true)}};
  static MapSpec const cable{
      "link override",
      {id("nic", "node3/nic2", true),
       {.name = "rate", .type = ValueType::Rate, .doc = "what its cable runs at", .required = true}}};
  static MapSpec const fabric{
      "fabric",
      {{.name = "kind",
        .type = ValueType::Word,
        .doc = "how NICs are joined",
        .required = true,
        .words = {"direct", "single_switch", "leaf_spine", "rail_optimised"}},
       id("switch", "the network switch part"),
       count("nodes_per_leaf", "nodes that share a leaf (leaf_spine), or a group of rail leaves (rail_optimised)"),
       count("uplinks", "cables from a leaf to the spines; default: as many as it has NICs (non-blocking)"),
       rate("uplink_rate", "of one of those cables; default: the NICs' rate"),
       names("nics", "the NICs of a node that are on the fabric; default: all that can do RDMA"),
       list_of("link_overrides", "cables that run slower", &cable)}};
  static MapSpec const spec{"cluster",
                            {schema_field("cluster/1"),
                             id("cluster", "its name", true),
                             text_field("title", "its title, for display"),
                             names("notes", "what was inferred, or is unknown"),
                             {.name = "settings",
                              .type = ValueType::Map,
                              .doc = "of every node, over the machine's own",
                              .map = &settings_spec()},
                             {.name = "nodes",
                              .type = ValueType::List,
                              .doc = "machines and how many of each",
                              .required = true,
                              .map = &node,
                              .item = ValueType::Map},
                             {.name = "fabric",
                              .type = ValueType::Map,
                              .doc = "the network between them",
                              .required = true,
                              .map = &fabric}}};
  return spec;
}

}  // namespace lanewise
