// What all kinds of fabric have in common: NICs, rails, routing, slower cables.
#include "core/machine/files/fabric_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/machine/fabric_ways.hpp"
#include "core/machine/files/budgets.hpp"
#include "core/machine/files/key_values.hpp"
#include "core/machine/nic_port.hpp"
#include "core/machine/nic_rate.hpp"
#include "core/machine/node_kinds.hpp"

namespace lanewise {

void FabricReader::read() {
  fabric_.kind = reader_.text("kind").value_or("");
  check_keys();
  read_routing();
  read_nics();
  set_rails();
  read_shape();
  for (auto& cable : reader_.maps("link_overrides")) read_link_override(cable);
  if (!reader_.diagnostics().empty()) return;
  attach_second_functions();
  check_islands();
  cluster_.fabric = std::move(fabric_);
  for (auto const& sentence : exceeded_ports(cluster_)) reader_.fail_at_key("switch", sentence);
}

// A key that belongs to another kind would be read and change nothing.
void FabricReader::check_keys() {
  struct KeyOf {
    std::string_view key;
    std::vector<std::string_view> kinds;
  };
  static std::vector<std::string_view> const tiered{"leaf_spine", "rail_optimised", "rail_only"};
  static std::vector<KeyOf> const keys{
      {"nodes_per_leaf", {"leaf_spine", "rail_optimised", "rail_only", "torus", "dragonfly"}},
      {"uplinks", tiered},
      {"uplink_rate", tiered},
      {"oversubscription", tiered},
      {"tiers", {"fat_tree"}},
      {"by_rail", {"fat_tree"}},
      {"dimensions", {"torus"}},
      {"groups", {"dragonfly"}},
      {"switches_per_group", {"dragonfly"}},
      {"cables", {"torus", "dragonfly"}},
      {"global_cables", {"dragonfly"}},
      {"cable_rate", {"torus", "dragonfly"}},
      {"switches", {"graph"}},
      {"links", {"graph"}}};
  for (auto const& [key, kinds] : keys)
    if (reader_.has(key) && std::find(kinds.begin(), kinds.end(), fabric_.kind) == kinds.end())
      reader_.fail(*reader_.node(key), fmt::format("'{}' belongs to a fabric of the kind {}; this is {}", key,
                                                   fmt::join(kinds, ", "), fabric_.kind));
}

void FabricReader::read_routing() {
  if (auto const routing = reader_.text("routing"))
    fabric_.routing = *routing == "ecmp" ? Routing::Ecmp : *routing == "static" ? Routing::Static : Routing::Adaptive;
  if (fabric_.kind == "torus" && fabric_.routing != Routing::Adaptive)
    reader_.fail(*reader_.node("routing"), "a torus routes dimension by dimension; leave 'routing' out");
  auto const flows = reader_.count("flows_per_pair");
  if (!flows) return;
  if (fabric_.routing != Routing::Ecmp)
    reader_.fail(*reader_.node("flows_per_pair"), "'flows_per_pair' belongs to 'routing: ecmp'");
  else if (*flows < 1 || *flows > kMaxFlowsPerPair)
    reader_.fail(*reader_.node("flows_per_pair"), fmt::format("'flows_per_pair' is 1 to {}", kMaxFlowsPerPair));
  else
    fabric_.flows_per_pair = *flows;
}

void FabricReader::read_nics() {
  auto const wanted = expanded_names(reader_, "nics");
  std::set<std::string> unknown(wanted.begin(), wanted.end());
  nics_.resize(cluster_.hosts.size());
  for (auto const id : cluster_.all(PciKind::Nic)) {
    std::string const name(short_name(cluster_.at(id).name));
    unknown.erase(name);
    if (!cluster_.at(id).port_of.empty()) continue;  // it is where its port is
    auto const* part = cluster_.part_of(id);
    bool const is_on_fabric = wanted.empty() ? part != nullptr && part->nic.rdma
                                             : std::find(wanted.begin(), wanted.end(), name) != wanted.end();
    if (is_on_fabric) nics_[index(cluster_.host_of(id))].push_back(id);
  }
  for (auto const& name : unknown)
    reader_.fail(*reader_.node("nics"), fmt::format("no machine here has a NIC called '{}'", name));
  if (fabric_.kind == "graph") return;
  auto const without = std::find_if(nics_.begin(), nics_.end(), [](auto const& nics) { return nics.empty(); });
  if (without != nics_.end())
    reader_.fail_at_key("kind", fmt::format("{} has no NIC on the fabric",
                                            cluster_.hosts[static_cast<std::size_t>(without - nics_.begin())].name));
}

// The n-th NIC of a node is on rail n, unless its machine says otherwise.
void FabricReader::set_rails() {
  for (auto const& nics : nics_)
    for (std::size_t rail = 0; rail < nics.size(); ++rail) {
      auto& function = cluster_.functions[index(nics[rail])];
      if (!function.rail) function.rail = static_cast<int>(rail);
    }
}

void FabricReader::read_shape() {
  if (fabric_.kind == "torus") return read_torus();
  if (fabric_.kind == "dragonfly") return read_dragonfly();
  if (fabric_.kind == "graph") return read_graph();
  read_tiered();
}

void FabricReader::attach_second_functions() {
  std::vector<Fabric::Attachment> second;
  for (auto const nic : cluster_.all(PciKind::Nic)) {
    if (cluster_.at(nic).port_of.empty()) continue;
    auto const owner = port_owner(cluster_, nic);
    auto const* const attachment = fabric_.find(owner);
    if (attachment == nullptr) continue;
    second.push_back({nic, attachment->at, attachment->rate});
    cluster_.functions[index(nic)].rail = cluster_.at(owner).rail;
  }
  fabric_.attachments.insert(fabric_.attachments.end(), second.begin(), second.end());
  std::sort(fabric_.attachments.begin(), fabric_.attachments.end(),
            [](auto const& a, auto const& b) { return a.nic < b.nic; });
}

// Nodes that no cable joins are two clusters.
void FabricReader::check_islands() {
  FabricWays const ways(fabric_);
  std::vector<std::size_t> joined(fabric_.switches.size(), cluster_.hosts.size());  // by switch: a node of its island
  std::vector<std::size_t> lowest(cluster_.hosts.size());                           // by node: one that it reaches
  std::iota(lowest.begin(), lowest.end(), std::size_t{0});
  auto const root = [&](std::size_t node) {
    while (lowest[node] != node) node = lowest[node];
    return node;
  };
  for (auto const& attachment : fabric_.attachments) {
    auto const node = index(cluster_.host_of(attachment.nic));
    auto& known = joined[ways.island_of(attachment.at)];
    if (known == cluster_.hosts.size()) known = node;
    auto const [low, high] = std::minmax({root(node), root(known)});
    lowest[high] = low;
  }
  for (std::size_t node = 1; node < lowest.size(); ++node)
    if (root(node) != 0)
      return reader_.fail_at_key("kind",
                                 fmt::format("nothing joins {} with {}: no NIC of the one reaches one of the other",
                                             cluster_.hosts[node].name, cluster_.hosts.front().name));
}

std::optional<PartId> FabricReader::switch_part(MapReader& reader, std::string_view key) {
  if (auto const name = reader.text(key))
    return parts_.enter(cluster_, reader, *reader.node(key), *name, PartKind::NetworkSwitch);
  if (&reader == &reader_ || !reader_.has("switch")) return std::nullopt;
  return switch_part(reader_, "switch");
}

std::size_t FabricReader::nodes_per_leaf(std::size_t otherwise) {
  auto const given = positive_count(reader_, "nodes_per_leaf");
  return given ? static_cast<std::size_t>(std::max(*given, 1)) : otherwise;
}

BytesPerSecond FabricReader::fastest_nic() const {
  BytesPerSecond fastest{0};
  for (auto const& attachment : fabric_.attachments)
    fastest = std::max(fastest, nic_rate(cluster_, attachment.nic).value_or(BytesPerSecond(0)));
  return fastest;
}

void FabricReader::read_link_override(MapReader& reader) {
  auto const name = reader.text("nic");
  auto const rate = reader.rate("rate");
  if (!name || !rate) return;
  for (auto& attachment : fabric_.attachments)
    if (cluster_.at(attachment.nic).name == *name) {
      attachment.rate = rate;
      return;
    }
  reader.fail(*reader.node("nic"), fmt::format("no NIC on the fabric is called '{}'; write it as node0/nic0", *name));
}

}  // namespace lanewise
