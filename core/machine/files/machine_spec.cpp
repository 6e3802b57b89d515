// The keys of machine and cluster files, mapping by mapping.
#include <iterator>
#include <utility>

#include "core/machine/files/field_specs.hpp"
#include "core/machine/files/machine_spec.hpp"
#include "core/machine/machine_fields.hpp"
#include "lanewise/machine/machine_file.hpp"

namespace lanewise {
namespace {

// The specs of a table's fields.
template <class Fields>
std::vector<FieldSpec> specs_of(Fields const& fields) {
  std::vector<FieldSpec> specs;
  for (auto const& field : fields) specs.push_back(field.spec);
  return specs;
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
      {id_field("socket", "its name", true), id_field("part", "the CPU, or unknown"),
       list_of("numa", "its NUMA nodes; default: one, numbered as the socket", &numa_spec()),
       list_of("pcie", "its root ports, and devices on the root bus of a flat tree", &port_spec())}};
  return spec;
}

MapSpec const& socket_link_spec() {
  static MapSpec const spec{"socket link",
                            {names_field("between", "the two sockets", true),
                             id_field("part", "the link (upi-11.2)", true), count_field("count", "links bonded")}};
  return spec;
}

MapSpec const& nvlink_spec() {
  static MapSpec const spec{
      "NVLink",
      {names_field("between", "two ends: GPUs, or a GPU and a socket"),
       id_field("switch", "an NVSwitch crossbar instead, by name"),
       names_field("gpus", "the GPUs on the switch; gpu0..gpu7 is a range"), id_field("switch_part", "the NVSwitch"),
       count_field("generation", "NVLink generation 1 to 5; stands for the part nvlink-N"),
       id_field("part", "another link (nvlink-c2c, xgmi-gpu-...)"),
       count_field("count", "links bonded between the two ends, or from each GPU to the switch", true)}};
  return spec;
}

MapSpec const& override_spec() {
  static auto const spec = [] {
    MapSpec made{"override", {id_field("from", "where the data is", true), id_field("to", "where it goes", true)}};
    for (auto& field : specs_of(override_fields())) made.fields.push_back(std::move(field));
    return made;
  }();
  return spec;
}

}  // namespace

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

MapSpec const& virtualization_spec() {
  static auto const spec = [] {
    MapSpec made{"virtualization", specs_of(virtualization_fields())};
    std::vector<FieldSpec> const cliques{
        names_field("clique", "GPUs announced as peers by the approval capability (x-nv-gpudirect-clique)"),
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
        {id_field("root_port", "name of the root port; only directly under a socket"), function("link"),
         function("max"), function("acs"), id_field("switch", "a PCIe switch of this name"),
         id_field("gpu", "a GPU of this name"), id_field("nic", "a NIC of this name"),
         id_field("nvme", "an NVMe drive of this name"), id_field("device", "another endpoint of this name"),
         id_field("part", "its part, or unknown"), function("bdf"),
         id_field("host_bridge", "of a root port: root ports with the same one share a PCI host bridge"),
         count_field("numa", "of a root port: its NUMA node, where the socket has several")}};
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
       id_field("machine", "its name", true),
       text_field("title", "the product's name, for display"),
       names_field("notes", "what was inferred, or is unknown"),
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

}  // namespace lanewise
