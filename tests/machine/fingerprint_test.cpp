// Every key of the files that describe a machine changes its fingerprint, or is one of those that are left out.
#include "lanewise/machine/fingerprint.hpp"
#include "core/machine/files/machine_spec.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/machine/machine_fields.hpp"
#include "core/machine/part_fields.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/field_samples.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise {
namespace {

using Json = nlohmann::ordered_json;

// A machine whose file uses every key at least once.
Json machine_with_every_key() {
  return Json::parse(R"({
    "lanewise": "machine/1", "machine": "m", "title": "a machine", "notes": ["a note"],
    "settings": {"acs": "on", "iommu": "lazy", "iommu_page": "2 MiB",
                 "virtualization": {"kind": "passthrough", "hypervisor": "kvm", "approval": true,
                                    "clique": ["gpu0", "gpu1"], "ats": true}},
    "parts": {"cpu": {"kind": "cpu"}, "cpu-too": {"kind": "cpu"}, "gpu": {"kind": "gpu"}, "gpu-too": {"kind": "gpu"},
              "nic": {"kind": "nic"}, "drive": {"kind": "nvme"}, "card": {"kind": "device"}, "sw": {"kind": "switch"},
              "upi": {"kind": "link"}, "upi-too": {"kind": "link"}, "nvlink-3": {"kind": "link"},
              "nvlink-4": {"kind": "link"}, "nvs": {"kind": "nvswitch"}, "nvs-too": {"kind": "nvswitch"}},
    "sockets": [
      {"socket": "cpu0", "part": "cpu", "numa": [{"node": 0, "cores": "0-7"}, {"node": 1}], "pcie": [
        {"root_port": "rp0", "host_bridge": "hb0", "numa": 0, "switch": "sw0", "part": "sw", "chip": "c0", "ports": [
          {"gpu": "gpu0", "part": "gpu", "link": "gen4 x16", "max": "gen5 x16", "acs": "off", "mig": true,
           "bdf": "0000:3b:00.0"},
          {"nic": "nic0", "part": "nic", "device_name": "mlx5_0", "rate": "100 Gb/s", "rail": 1},
          {"nvme": "nvme0", "part": "drive"}, {"device": "card0", "part": "card"},
          {"nic": "nic1", "part": "nic", "port_of": "nic0"}, {"nic": "nic2", "part": "nic"}]},
        {"root_port": "rp1", "host_bridge": "hb0", "numa": 0, "gpu": "gpu1", "part": "gpu"}]},
      {"socket": "cpu1", "part": "cpu", "numa": [{"node": 2}, {"node": 3}], "pcie": [
        {"root_port": "rp2", "numa": 2, "gpu": "gpu2", "part": "gpu"}]}],
    "socket_links": [{"between": ["cpu0", "cpu1"], "part": "upi", "count": 3}],
    "nvlinks": [{"between": ["gpu0", "gpu1"], "generation": 3, "count": 4},
                {"between": ["gpu0", "gpu2"], "part": "nvlink-3", "count": 4},
                {"switch": "nvs0", "gpus": ["gpu1", "gpu2"], "switch_part": "nvs", "generation": 3, "count": 6}],
    "software": {"cuda": true, "peermem": true, "dma_buf": true, "gdrcopy": true, "gpudirect_storage": true,
                 "fabric_manager": true, "gpudirect_async": true, "geforce_peer": true,
                 "mpi_messages": true, "cuda_aware_mpi": true},
    "overrides": [{"from": "gpu0", "to": "gpu1", "op": "copy", "bandwidth": "1 GB/s", "latency": "3 us",
                   "source": "a bench"}]})");
}

std::string print_of(Json const& file) {
  return fingerprint(Catalogue({}).machine_from(SourceText::from_memory("m.yaml", file.dump())));
}

// A change of one key: where it is in the file ("/fabric/kind"), and its other value; or a name that others use too,
// and its new one.
struct Change {
  std::string what;
  Json value;
};

// Of every key of machine_spec(), by "title.key": one change.
std::map<std::string, Change> const& machine_changes() {
  static std::map<std::string, Change> const changes{
      {"machine.machine", {"/machine", "other"}},
      {"machine.title", {"/title", "another"}},
      {"machine.notes", {"/notes/0", "another"}},
      {"settings.acs", {"/settings/acs", "off"}},
      {"settings.iommu", {"/settings/iommu", "pt"}},
      {"settings.iommu_page", {"/settings/iommu_page", "4 KiB"}},
      {"settings.virtualization", {"/settings/virtualization", "none"}},
      {"virtualization.kind", {"/settings/virtualization/kind", "none"}},
      {"virtualization.hypervisor", {"/settings/virtualization/hypervisor", "xen"}},
      {"virtualization.approval", {"/settings/virtualization/approval", false}},
      {"virtualization.clique", {"/settings/virtualization/clique/1", "gpu2"}},
      {"virtualization.cliques",
       {"/settings/virtualization/cliques", Json::parse(R"([["gpu0", "gpu1"], ["gpu1", "gpu2"]])")}},
      {"virtualization.ats", {"/settings/virtualization/ats", false}},
      {"socket.socket", {"cpu1", "cpu7"}},
      {"socket.part", {"/sockets/0/part", "cpu-too"}},
      {"socket.numa", {"/sockets/0/numa/2", {{"node", 7}}}},
      {"NUMA node.node", {"/sockets/0/numa/1/node", 5}},
      {"NUMA node.cores", {"/sockets/0/numa/0/cores", "0-15"}},
      {"socket.pcie", {"/sockets/1/pcie", Json::parse(R"([{"root_port": "rp2", "gpu": "gpu2", "part": "gpu"},
                                                          {"root_port": "rp3", "gpu": "gpu3", "part": "gpu"}])")}},
      {"port.root_port", {"/sockets/0/pcie/1/root_port", "rp9"}},
      {"port.link", {"/sockets/0/pcie/0/ports/0/link", "gen3 x16"}},
      {"port.max", {"/sockets/0/pcie/0/ports/0/max", "gen6 x16"}},
      {"port.acs", {"/sockets/0/pcie/0/ports/0/acs", "on"}},
      {"port.switch", {"/sockets/0/pcie/0/switch", "sw9"}},
      {"port.gpu", {"gpu1", "gpu7"}},
      {"port.nic", {"nic0", "nic9"}},
      {"port.nvme", {"/sockets/0/pcie/0/ports/2/nvme", "nvme9"}},
      {"port.device", {"/sockets/0/pcie/0/ports/3/device", "card9"}},
      {"port.part", {"/sockets/0/pcie/0/ports/0/part", "gpu-too"}},
      {"port.bdf", {"/sockets/0/pcie/0/ports/0/bdf", "0000:4b:00.0"}},
      {"port.host_bridge", {"/sockets/0/pcie/1/host_bridge", "hb9"}},
      {"port.numa", {"/sockets/1/pcie/0/numa", 3}},
      {"port.chip", {"/sockets/0/pcie/0/chip", "c9"}},
      {"port.firmware", {"/sockets/0/pcie/0/ports/0/firmware", "92.00.9E"}},
      {"settings.firmware", {"/settings/firmware", "Dell Inc. 2.1.6"}},
      {"port.mig", {"/sockets/0/pcie/0/ports/0/mig", false}},
      {"port.off", {"/sockets/0/pcie/0/ports/0/off", true}},
      {"port.memory_numa", {"/sockets/0/pcie/0/ports/0/memory_numa", 9}},
      {"port.device_name", {"/sockets/0/pcie/0/ports/1/device_name", "mlx5_9"}},
      {"port.rate", {"/sockets/0/pcie/0/ports/1/rate", "200 Gb/s"}},
      {"port.rail", {"/sockets/0/pcie/0/ports/1/rail", 2}},
      {"port.port_of", {"/sockets/0/pcie/0/ports/4/port_of", "nic2"}},
      {"port.ports", {"/sockets/0/pcie/0/ports/4", {{"nvme", "nvme1"}, {"part", "drive"}}}},
      {"socket link.between", {"/socket_links/0/between", {"cpu1", "cpu0"}}},
      {"socket link.part", {"/socket_links/0/part", "upi-too"}},
      {"socket link.count", {"/socket_links/0/count", 2}},
      {"NVLink.between", {"/nvlinks/0/between", {"gpu2", "gpu1"}}},
      {"NVLink.switch", {"/nvlinks/2/switch", "nvs9"}},
      {"NVLink.gpus", {"/nvlinks/2/gpus/0", "gpu0"}},
      {"NVLink.switch_part", {"/nvlinks/2/switch_part", "nvs-too"}},
      {"NVLink.generation", {"/nvlinks/0/generation", 4}},
      {"NVLink.part", {"/nvlinks/1/part", "nvlink-4"}},
      {"NVLink.count", {"/nvlinks/0/count", 5}},
      {"software.cuda", {"/software/cuda", false}},
      {"software.peermem", {"/software/peermem", false}},
      {"software.dma_buf", {"/software/dma_buf", false}},
      {"software.gdrcopy", {"/software/gdrcopy", false}},
      {"software.gpudirect_storage", {"/software/gpudirect_storage", false}},
      {"software.fabric_manager", {"/software/fabric_manager", false}},
      {"software.imex", {"/software/imex", false}},
      {"software.gpudirect_async", {"/software/gpudirect_async", false}},
      {"software.geforce_peer", {"/software/geforce_peer", false}},
      {"software.mpi_messages", {"/software/mpi_messages", false}},
      {"software.cuda_aware_mpi", {"/software/cuda_aware_mpi", false}},
      {"override.from", {"/overrides/0/from", "gpu2"}},
      {"override.to", {"/overrides/0/to", "gpu2"}},
      {"override.op", {"/overrides/0/op", "read"}},
      {"override.bandwidth", {"/overrides/0/bandwidth", "2 GB/s"}},
      {"override.latency", {"/overrides/0/latency", "4 us"}},
      {"override.source", {"/overrides/0/source", "another"}}};
  return changes;
}

// "title.key" of every key that a spec knows, at any depth.
void add_keys(MapSpec const& spec, std::set<std::string>& keys) {
  for (auto const& field : spec.fields) {
    if (!keys.insert(spec.title + "." + field.name).second) continue;
    if (field.map != nullptr) add_keys(*field.map, keys);
  }
}

template <class Fields>
void add_left_out(std::string const& title, Fields const& fields, std::set<std::string>& keys) {
  for (auto const& field : fields)
    if (!field.not_in_fingerprint.empty()) keys.insert(title + "." + field.spec.name);
}

// Keys that the tables leave out, and those that are not in a table: what is only for display, and a name that only
// tells two crossbars apart.
std::set<std::string> left_out_of_machines() {
  std::set<std::string> keys{"machine.title", "machine.notes", "NVLink.switch"};
  add_left_out("software", software_fields(), keys);
  add_left_out("settings", settings_fields(), keys);
  add_left_out("virtualization", virtualization_fields(), keys);
  add_left_out("port", function_fields(), keys);
  add_left_out("NUMA node", numa_fields(), keys);
  add_left_out("override", override_fields(), keys);
  keys.erase("NUMA node.node");  // its name says it, and that is in
  return keys;
}

Json changed(Json file, Change const& change) {
  if (change.what.starts_with('/')) {
    file[Json::json_pointer(change.what)] = change.value;
    return file;
  }
  auto text = file.dump();
  auto const name = Json(change.what).dump();
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at))
    text.replace(at, name.size(), change.value.dump());
  return Json::parse(text);
}

TEST(Fingerprint, EveryKeyOfAMachineFileChangesItOrIsLeftOutForAReason) {
  auto const file = machine_with_every_key();
  auto const before = print_of(file);
  EXPECT_EQ(print_of(file), before);
  auto const left_out = left_out_of_machines();
  std::set<std::string> keys;
  add_keys(machine_spec(), keys);
  add_keys(virtualization_spec(), keys);
  // Not a key of a thing: the schema word, and lists and mappings whose own keys are all here.
  for (auto const* whole : {"machine.lanewise", "machine.settings", "machine.parts", "machine.sockets",
                            "machine.socket_links", "machine.nvlinks", "machine.software", "machine.overrides"})
    EXPECT_EQ(keys.erase(whole), 1U) << whole;
  for (auto const& key : keys) {
    SCOPED_TRACE(key);
    auto const found = machine_changes().find(key);
    if (found == machine_changes().end()) {
      ADD_FAILURE() << "no change of this key is tested";
      continue;
    }
    EXPECT_EQ(print_of(changed(file, found->second)) == before, left_out.count(key) == 1);
  }
}

TEST(Fingerprint, KnowsWhereOneCliqueEnds) {
  auto file = machine_with_every_key();
  auto& virtualization = file["settings"]["virtualization"];
  virtualization.erase("clique");
  virtualization["cliques"] = Json::parse(R"([["gpu0", "gpu1"], ["gpu2"]])");
  auto const two_and_one = print_of(file);
  virtualization["cliques"] = Json::parse(R"([["gpu0"], ["gpu1", "gpu2"]])");
  EXPECT_NE(print_of(file), two_and_one);
  virtualization["cliques"] = Json::parse(R"([["gpu0", "gpu1", "gpu2"]])");
  EXPECT_NE(print_of(file), two_and_one);
}

TEST(Fingerprint, EveryFigureOfEveryKindOfPartChangesItOrIsLeftOutForAReason) {
  Machine machine;
  machine.name = "m";
  for (std::size_t kind = 0; kind <= static_cast<std::size_t>(PartKind::NetworkSwitch); ++kind) {
    Part bare;
    bare.name = "p";
    bare.kind = static_cast<PartKind>(kind);
    machine.parts = {bare};
    auto const before = fingerprint(machine);
    for (auto const& field : part_fields(bare.kind)) {
      SCOPED_TRACE(fmt::format("{}.{}", to_string(bare.kind), field.spec.name));
      bool changes = false;
      for (auto const& value : test::field_samples(field.spec)) {
        Json const file{{"kind", to_string(bare.kind)}, {field.spec.name, value}};
        auto const source = SourceText::from_memory("p.yaml", file.dump());
        Diagnostics diagnostics;
        machine.parts = {read_part("p", parse_yaml(source), source, diagnostics)};
        diagnostics.throw_if_any();
        changes = changes || fingerprint(machine) != before;
      }
      EXPECT_EQ(changes, field.not_in_fingerprint.empty());
    }
  }
}

// A cluster file, and one change of it.
struct ClusterChange {
  std::string fabric;  // by its kind
  Change change;
};

Json cluster_with(std::string const& fabric) {
  auto file = Json::parse(R"({
    "lanewise": "cluster/1", "cluster": "c", "title": "a cluster", "notes": ["a note"], "settings": {"acs": "on"},
    "parts": {"own": {"kind": "network_switch", "latency": "1 us"}},
    "nodes": [{"machine": "node.yaml", "count": 4}],
    "multi_host": [{"nics": ["node2/nic1", "node3/nic1"]}],
    "domains": [{"domain": "d", "nodes": ["node0..node2"], "gpus": ["gpu0"], "switch_part": "crossbar", "chips": 2,
                 "generation": 4, "count": 2},
                {"domain": "e", "nodes": ["node3"], "gpus": ["gpu0"], "switch_part": "crossbar", "part": "xgmi",
                 "count": 1}],
    "fabric": {"switch": "s", "nics": ["nic0"], "link_overrides": [{"nic": "node1/nic0", "rate": "50 Gb/s"}]}})");
  static std::map<std::string, std::string> const own{
      {"leaf_spine", R"({"nodes_per_leaf": 2, "uplinks": 2, "uplink_rate": "100 Gb/s"})"},
      {"rail_optimised", R"({"nodes_per_leaf": 2, "oversubscription": 2, "routing": "ecmp", "flows_per_pair": 2})"},
      {"fat_tree", R"({"by_rail": false, "tiers": [
          {"tier": "leaf", "switch": "own", "joins": 1, "oversubscription": 2},
          {"tier": "top", "switches": 2, "joins": 4}]})"},
      {"fat tree of three", R"({"tiers": [
          {"tier": "leaf", "joins": 1, "uplinks": 2, "uplink_rate": "50 Gb/s"}, {"tier": "pod", "joins": 2},
          {"tier": "top"}]})"},
      {"torus", R"({"dimensions": [2, 2], "cables": 2, "cable_rate": "50 Gb/s"})"},
      {"dragonfly", R"({"groups": 2, "switches_per_group": 2, "global_cables": 3})"},
      {"graph", R"({"switches": [{"switch": "a", "part": "own", "nics": ["node0/nic0..node1/nic0"]},
                                 {"switch": "b", "nics": ["node2/nic0..node3/nic0"]}],
                    "links": [{"between": ["a", "b"], "count": 2, "rate": "50 Gb/s"}]})"}};
  if (fabric == "two fabrics") {
    file.erase("fabric");
    file["fabrics"] = Json::parse(R"([{"fabric": "compute", "kind": "single_switch", "nics": ["nic0"]},
                                      {"fabric": "storage", "kind": "single_switch", "nics": ["nic1"]}])");
    return file;
  }
  file["fabric"].update(Json::parse(own.at(fabric)));
  file["fabric"]["kind"] = fabric.starts_with("fat") ? "fat_tree" : fabric;
  return file;
}

std::map<std::string, ClusterChange> const& cluster_changes() {
  static std::map<std::string, ClusterChange> const changes{
      {"cluster.cluster", {"leaf_spine", {"/cluster", "other"}}},
      {"cluster.title", {"leaf_spine", {"/title", "another"}}},
      {"cluster.notes", {"leaf_spine", {"/notes/0", "another"}}},
      {"cluster.parts", {"fat_tree", {"/parts/own/latency", "2 us"}}},
      {"settings.acs", {"leaf_spine", {"/settings/acs", "off"}}},
      {"nodes.machine", {"leaf_spine", {"/nodes/0/machine", "other.yaml"}}},
      {"nodes.count", {"leaf_spine", {"/nodes/0/count", 5}}},
      {"adapter.nics", {"leaf_spine", {"/multi_host/0/nics/1", "node1/nic1"}}},
      {"domain.domain", {"leaf_spine", {"/domains/0/domain", "other"}}},
      {"domain.nodes", {"leaf_spine", {"/domains/0/nodes/0", "node0..node1"}}},
      {"domain.gpus", {"leaf_spine", {"/domains/1/gpus/0", "gpu1"}}},
      {"domain.switch_part", {"leaf_spine", {"/domains/0/switch_part", "crossbar2"}}},
      {"domain.chips", {"leaf_spine", {"/domains/0/chips", 3}}},
      {"domain.generation", {"leaf_spine", {"/domains/0/generation", 3}}},
      {"domain.part", {"leaf_spine", {"/domains/1/part", "xgmi2"}}},
      {"domain.count", {"leaf_spine", {"/domains/0/count", 3}}},
      {"fabric.kind", {"leaf_spine", {"/fabric/kind", "rail_optimised"}}},
      {"fabric.switch", {"leaf_spine", {"/fabric/switch", "s2"}}},
      {"fabric.nodes_per_leaf", {"leaf_spine", {"/fabric/nodes_per_leaf", 4}}},
      {"fabric.uplinks", {"leaf_spine", {"/fabric/uplinks", 1}}},
      {"fabric.uplink_rate", {"leaf_spine", {"/fabric/uplink_rate", "200 Gb/s"}}},
      {"fabric.nics", {"leaf_spine", {"/fabric/nics/0", "nic0..nic1"}}},
      {"link override.nic", {"leaf_spine", {"/fabric/link_overrides/0/nic", "node2/nic0"}}},
      {"link override.rate", {"leaf_spine", {"/fabric/link_overrides/0/rate", "25 Gb/s"}}},
      {"fabric.oversubscription", {"rail_optimised", {"/fabric/oversubscription", 1}}},
      {"fabric.routing", {"torus", {"/fabric/routing", "adaptive"}}},
      {"fabric.flows_per_pair", {"rail_optimised", {"/fabric/flows_per_pair", 3}}},
      {"fabric.by_rail", {"fat_tree", {"/fabric/by_rail", true}}},
      {"fabric.fabric", {"two fabrics", {"/fabrics/0/fabric", "front_end"}}},
      {"fabric.planes", {"fat_tree", {"/fabric/planes", 2}}},
      {"tier.tier", {"fat_tree", {"/fabric/tiers/1/tier", "spine"}}},
      {"tier.switch", {"fat_tree", {"/fabric/tiers/0/switch", "s2"}}},
      {"tier.joins", {"fat tree of three", {"/fabric/tiers/1/joins", 4}}},
      {"tier.switches", {"fat_tree", {"/fabric/tiers/1/switches", 3}}},
      {"tier.uplinks", {"fat tree of three", {"/fabric/tiers/0/uplinks", 3}}},
      {"tier.uplink_rate", {"fat tree of three", {"/fabric/tiers/0/uplink_rate", "25 Gb/s"}}},
      {"tier.oversubscription", {"fat_tree", {"/fabric/tiers/0/oversubscription", 0.5}}},
      {"fabric.dimensions", {"torus", {"/fabric/dimensions", {4, 1}}}},
      {"fabric.cables", {"torus", {"/fabric/cables", 3}}},
      {"fabric.cable_rate", {"torus", {"/fabric/cable_rate", "25 Gb/s"}}},
      {"fabric.groups", {"dragonfly", {"/fabric/groups", 1}}},
      {"fabric.switches_per_group", {"dragonfly", {"/fabric/switches_per_group", 1}}},
      {"fabric.global_cables", {"dragonfly", {"/fabric/global_cables", 2}}},
      {"switches.switch", {"graph", {"a", "aa"}}},
      {"switches.part", {"graph", {"/fabric/switches/0/part", "s2"}}},
      {"switches.nics", {"graph", {"/fabric/switches/0/nics/0", "node0/nic0..node1/nic1"}}},
      {"link.between", {"graph", {"/fabric/links/0/between", {"b", "a"}}}},
      {"link.count", {"graph", {"/fabric/links/0/count", 1}}},
      {"link.rate", {"graph", {"/fabric/links/0/rate", "25 Gb/s"}}}};
  return changes;
}

// Of every key of cluster_spec() but those of settings: one change.
TEST(Fingerprint, EveryKeyOfAClusterFileChangesIt) {
  // Neither the name of a domain's chips nor the end of a cable that comes first matters, nor a word that is the
  // default.
  std::set<std::string> const left_out{"cluster.title", "cluster.notes", "domain.chips", "fabric.routing",
                                       "link.between"};
  auto const node = [](std::string const& rate) {
    return Json::parse(R"({"lanewise": "machine/1", "machine": "n", "parts": {"nic": {"kind": "nic", "rate": ")" +
                       rate +
                       R"("}, "gpu": {"kind": "gpu"}}, "sockets": [{"socket": "cpu0", "part": "unknown", "pcie": [
                         {"root_port": "rp0", "nic": "nic0", "part": "nic"},
                         {"root_port": "rp1", "nic": "nic1", "part": "nic"},
                         {"root_port": "rp2", "gpu": "gpu0", "part": "gpu"},
                         {"root_port": "rp3", "gpu": "gpu1", "part": "gpu"}]}]})")
        .dump();
  };
  test::TemporaryFolder const folder;
  (void)folder.with("node.yaml", node("100 Gb/s"));
  (void)folder.with("other.yaml", node("400 Gb/s"));
  for (auto const& [name, kind] : std::map<std::string, std::string>{{"s", "network_switch"},
                                                                     {"s2", "network_switch"},
                                                                     {"crossbar", "nvswitch"},
                                                                     {"crossbar2", "nvswitch"},
                                                                     {"xgmi", "link"},
                                                                     {"xgmi2", "link"},
                                                                     {"nvlink-3", "link"},
                                                                     {"nvlink-4", "link"}})
    (void)folder.with(fmt::format("parts/{}.yaml", name),
                      fmt::format("{{lanewise: part/1, part: {}, kind: {}}}", name, kind));
  Catalogue catalogue({folder.path()});
  auto const print = [&](Json const& cluster) {
    auto const name = (folder.path() / "c.yaml").string();
    return fingerprint(catalogue.machine_from(SourceText::from_memory(name, cluster.dump())));
  };
  std::set<std::string> keys;
  add_keys(cluster_spec(), keys);
  std::set<std::string> const whole{"cluster.lanewise",   "cluster.settings",      "cluster.nodes",
                                    "cluster.domains",    "cluster.fabric",        "cluster.fabrics",
                                    "cluster.multi_host", "fabric.link_overrides", "fabric.tiers",
                                    "fabric.switches",    "fabric.links"};
  for (auto const& key : keys) {
    SCOPED_TRACE(key);
    bool const of_settings = key.starts_with("settings.") || key.starts_with("virtualization.");
    if (whole.count(key) == 1 || (of_settings && key != "settings.acs")) continue;
    auto const found = cluster_changes().find(key);
    if (found == cluster_changes().end()) {
      ADD_FAILURE() << "no change of this key is tested";
      continue;
    }
    auto const file = cluster_with(found->second.fabric);
    EXPECT_EQ(print(changed(file, found->second.change)) == print(file), left_out.count(key) == 1);
  }
}

// Recorded plans, runs and measurements hold these.
TEST(Fingerprint, IsThatOfRecordedRuns) {
  auto catalogue = test::bundled();
  for (auto const& [name, print] :
       {std::pair{"h200x2-vm", "1fd7459caecf3314"}, std::pair{"h200x4-vm", "7b3ab90fa5aaae3c"}})
    EXPECT_EQ(fingerprint(catalogue.machine(name)), print) << name;
}

}  // namespace
}  // namespace lanewise
