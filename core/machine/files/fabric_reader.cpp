// What all kinds of fabric have in common: NICs, rails, routing, slower cables.
#include "core/machine/files/fabric_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/machine/fabric_ways.hpp"
#include "core/machine/files/budgets.hpp"
#include "core/machine/files/key_values.hpp"
#include "core/machine/nic_port.hpp"
#include "core/machine/nic_rate.hpp"
#include "core/machine/node_kinds.hpp"

namespace lanewise {

std::optional<Fabric> FabricReader::read() {
  network().kind = reader_.text("kind").value_or("");
  check_keys();
  read_routing();
  read_nics();
  if (network().kind != "graph") set_rails();
  read_shape();
  if (network().kind == "graph") set_rails();
  for (auto& cable : reader_.maps("link_overrides")) read_link_override(cable);
  if (!reader_.diagnostics().empty()) return std::nullopt;
  attach_second_functions();
  for (auto const& sentence : exceeded_ports(cluster_, fabric_)) reader_.fail_at_key("switch", sentence);
  return std::move(fabric_);
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
      {"planes", {"single_switch", "leaf_spine", "rail_optimised", "rail_only", "fat_tree"}},
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
    if (reader_.has(key) && std::find(kinds.begin(), kinds.end(), network().kind) == kinds.end())
      reader_.fail(*reader_.node(key), fmt::format("'{}' belongs to a fabric of the kind {}; this is {}", key,
                                                   fmt::join(kinds, ", "), network().kind));
}

void FabricReader::read_routing() {
  if (auto const routing = reader_.text("routing"))
    for (auto const known : {Routing::Static, Routing::Ecmp, Routing::Valiant})
      if (*routing == to_string(known)) network().routing = known;
  if (network().kind == "torus" && network().routing != Routing::Adaptive)
    reader_.fail(*reader_.node("routing"), "a torus routes dimension by dimension; leave 'routing' out");
  if (network().kind != "dragonfly" && network().routing == Routing::Valiant)
    reader_.fail(*reader_.node("routing"), "'routing: valiant' belongs to a fabric of the kind dragonfly");
  auto const flows = reader_.count("flows_per_pair");
  if (!flows) return;
  if (network().routing != Routing::Ecmp)
    reader_.fail(*reader_.node("flows_per_pair"), "'flows_per_pair' belongs to 'routing: ecmp'");
  else if (*flows < 1 || *flows > kMaxFlowsPerPair)
    reader_.fail(*reader_.node("flows_per_pair"), fmt::format("'flows_per_pair' is 1 to {}", kMaxFlowsPerPair));
  else
    network().flows_per_pair = *flows;
}

void FabricReader::read_nics() {
  auto const names = expanded_names(reader_, "nics");
  if (reader_.has("nics") && names.empty() && reader_.diagnostics().empty())
    return reader_.fail(*reader_.node("nics"), "'nics' names none");
  std::set<std::string> const wanted(names.begin(), names.end());
  auto unknown = wanted;
  nics_.resize(cluster_.hosts.size());
  std::vector<std::vector<PciId>> without_rdma(nics_.size());
  for (auto const id : cluster_.all(PciKind::Nic)) {
    auto const& name = cluster_.at(id).name;
    std::string const within_node(short_name(name));
    unknown.erase(name);
    unknown.erase(within_node);
    if (auto const owner = port_owner(cluster_, id); owner != id) {  // it is where its port is
      if (wanted.contains(name))
        reader_.fail(*reader_.node("nics"), fmt::format("'{}' shares the port of '{}': only that one is on a fabric",
                                                        name, cluster_.at(owner).name));
      continue;
    }
    auto const* part = cluster_.part_of(id);
    auto const node = index(cluster_.host_of(id));
    bool const does_rdma = part != nullptr && part->nic.rdma;
    if (wanted.empty() ? does_rdma : wanted.contains(name) || wanted.contains(within_node)) nics_[node].push_back(id);
    if (wanted.empty() && part != nullptr && !does_rdma) without_rdma[node].push_back(id);
  }
  // Where a node has none that does RDMA, its network is what it has.
  for (std::size_t node = 0; node < nics_.size(); ++node)
    if (nics_[node].empty() && network().name.empty()) nics_[node] = without_rdma[node];
  for (auto const& name : unknown)
    reader_.fail(*reader_.node("nics"), fmt::format("no machine here has a NIC called '{}'", name));
  for (std::size_t node = 0; node < nics_.size(); ++node)
    if (!nics_[node].empty()) nodes_.push_back(node);
  if (unknown.empty()) check_nodes();
}

// The only fabric joins all nodes, of a list each joins some.
void FabricReader::check_nodes() {
  if (network().kind == "graph") return;
  if (!network().name.empty()) {
    if (nodes_.empty()) reader_.fail_at_key("kind", "no NIC that can do RDMA is on the fabric");
    return;
  }
  std::vector<bool> has_nic(cluster_.hosts.size(), false);
  for (auto const id : cluster_.all(PciKind::Nic)) {
    auto const& of_owner = nics_[index(cluster_.host_of(port_owner(cluster_, id)))];
    if (std::find(of_owner.begin(), of_owner.end(), port_owner(cluster_, id)) != of_owner.end())
      has_nic[index(cluster_.host_of(id))] = true;
  }
  auto const without = std::find(has_nic.begin(), has_nic.end(), false);
  if (without != has_nic.end())
    reader_.fail_at_key("kind", fmt::format("{} has no NIC on the fabric",
                                            cluster_.hosts[static_cast<std::size_t>(without - has_nic.begin())].name));
}

// The n-th NIC of a node is on rail n, unless its machine says otherwise.
void FabricReader::set_rails() {
  for (auto const& nics : nics_)
    for (int next = 0; auto const nic : nics) {
      if (network().kind == "graph" && fabric_.attachments_of(nic).empty()) continue;
      auto const rail = next++;
      auto& function = cluster_.functions[index(nic)];
      if (!function.rail) function.rail = rail;
    }
}

void FabricReader::read_shape() {
  if (nodes_.empty() && network().kind != "graph") return;
  if (network().kind == "torus") return read_torus();
  if (network().kind == "dragonfly") return read_dragonfly();
  if (network().kind == "graph") return read_graph();
  read_tiered();
}

void FabricReader::attach_second_functions() {
  std::vector<Fabric::Attachment> second;
  for (auto const nic : cluster_.all(PciKind::Nic)) {
    if (cluster_.at(nic).port_of.empty()) continue;
    auto const owner = port_owner(cluster_, nic);
    for (auto const& attachment : fabric_.attachments_of(owner)) {
      second.push_back({nic, attachment.at, attachment.rate});
      cluster_.functions[index(nic)].rail = cluster_.at(owner).rail;
    }
  }
  fabric_.attachments.insert(fabric_.attachments.end(), second.begin(), second.end());
  std::stable_sort(fabric_.attachments.begin(), fabric_.attachments.end(),
                   [](auto const& a, auto const& b) { return a.nic < b.nic; });
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
    fastest = std::max(fastest, cable_rate(cluster_, attachment).value_or(BytesPerSecond(0)));
  return fastest;
}

void FabricReader::read_link_override(MapReader& reader) {
  auto const name = reader.text("nic");
  auto const rate = reader.rate("rate");
  if (!name || !rate) return;
  auto const nic = cluster_.find_function(*name);
  bool found = false;
  for (auto& attachment : fabric_.attachments)
    if (nic && attachment.nic == port_owner(cluster_, *nic)) {
      attachment.rate = *rate / static_cast<double>(network().planes);
      found = true;
    }
  if (!found)
    reader.fail(*reader.node("nic"), fmt::format("no NIC on the fabric is called '{}'; write it as node0/nic0", *name));
}

}  // namespace lanewise
