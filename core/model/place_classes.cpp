#include "core/model/place_classes.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>

#include "core/machine/fabric_ways.hpp"
#include "core/machine/node_kinds.hpp"

namespace lanewise {
namespace {

// More variants of nodes than this are not compared pair by pair: each pair of variants is a class of its own.
constexpr std::size_t kMaxComparedVariants = 128;
// A place within its node: memory is told from functions by this bit.
constexpr std::uint32_t kMemory = 1U << 31U;

bool are_equal(Resource const& a, Resource const& b) {
  return a.kind == b.kind && a.capacity == b.capacity && a.generic_low == b.generic_low &&
         a.generic_high == b.generic_high && short_name(a.name) == short_name(b.name);
}
bool are_equal(Engine const& a, Engine const& b) {
  return a.slots == b.slots && a.fewest == b.fewest && a.most == b.most && short_name(a.name) == short_name(b.name);
}

std::uint32_t number(std::size_t of) { return static_cast<std::uint32_t>(of); }

bool has_static_routing(Fabric const& fabric) {
  return std::any_of(fabric.networks.begin(), fabric.networks.end(),
                     [](Fabric::Network const& network) { return network.routing == Routing::Static; });
}

}  // namespace

PlaceClasses::PlaceClasses(Machine const& machine, Resources const& resources, Likeness likeness) {
  // Where a way depends on the addresses of its ends, no two pairs are alike.
  bool const is_by_address =
      likeness == Likeness::None ||
      (machine.fabric && (!resources.fabric_ways().is_tree() || has_static_routing(*machine.fabric)));
  auto const split = machine.hosts.size() > 1 && !is_by_address ? NodeSplit::of(machine) : std::nullopt;
  if (!split) {
    make_one_node(machine);
    return;
  }
  nodes_.resize(machine.hosts.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].first_function = split->first_of(HostId(i)).function;
    nodes_[i].first_numa = split->first_of(HostId(i)).numa;
  }
  for (std::size_t i = 0; i < machine.functions.size(); ++i)
    node_of_function_.push_back(number(index(machine.host_of(PciId(i)))));
  for (auto const& numa : machine.numa_nodes) node_of_numa_.push_back(number(index(machine.at(numa.socket).host)));
  find_owners(machine, resources);
  if (!are_owned(resources)) {
    make_one_node(machine);
    return;
  }
  find_switches(machine, resources, *split);
  find_domains(machine);
  find_kinds(machine, resources);
  find_likeness();
  find_relations();
}

// Where nodes cannot be told apart, the machine is one: every pair is a class.
void PlaceClasses::make_one_node(Machine const& machine) {
  nodes_.assign(1, {});
  node_of_function_.assign(machine.functions.size(), 0);
  node_of_numa_.assign(machine.numa_nodes.size(), 0);
  relations_within_ = {0};
}

// Resources and engines of a node begin with its name.
void PlaceClasses::find_owners(Machine const& machine, Resources const& resources) {
  std::unordered_map<std::string_view, std::uint32_t> node_named;
  for (std::size_t i = 0; i < machine.hosts.size(); ++i) node_named.emplace(machine.hosts[i].name, number(i));
  auto const owner = [&](std::string const& name, auto list, auto id) {
    auto const slash = name.find('/');
    auto const found =
        slash == std::string::npos ? node_named.end() : node_named.find(std::string_view(name).substr(0, slash));
    if (found == node_named.end()) return Owner{};
    auto& own = nodes_[found->second].*list;
    own.push_back(id);
    return Owner{found->second, number(own.size() - 1)};
  };
  for (std::size_t i = 0; i < resources.count(); ++i)
    owner_of_resource_.push_back(owner(resources.at(ResourceId(i)).name, &Node::resources, ResourceId(i)));
  for (std::size_t i = 0; i < resources.engine_count(); ++i)
    owner_of_engine_.push_back(owner(resources.at(EngineId(i)).name, &Node::engines, EngineId(i)));
}

// Whether all but the uplinks of leaves are some node's.
bool PlaceClasses::are_owned(Resources const& resources) const {
  for (std::size_t i = 0; i < owner_of_resource_.size(); ++i)
    if (owner_of_resource_[i].node == kNone && resources.at(ResourceId(i)).kind != ResourceKind::Uplink) return false;
  return std::none_of(owner_of_engine_.begin(), owner_of_engine_.end(),
                      [](Owner const& owner) { return owner.node == kNone; });
}

void PlaceClasses::find_switch_classes(Machine const& machine, Resources const& resources) {
  using Key = std::tuple<std::uint32_t, std::optional<PartId>, std::optional<BytesPerSecond>,
                         std::optional<BytesPerSecond>, bool>;
  std::map<Key, std::uint32_t> classes;
  auto const& fabric = *machine.fabric;
  for (std::size_t i = 0; i < fabric.switches.size(); ++i) {
    auto const& one = fabric.switches[i];
    Key key{one.network, one.part, std::nullopt, std::nullopt, false};
    if (auto const trunk = resources.fabric_ways().trunk_above(number(i))) {
      auto const uplink = resources.trunk(*trunk);
      key = {one.network, one.part, resources.capacity(uplink.up), resources.capacity(uplink.down), true};
    }
    switch_class_.push_back(classes.try_emplace(key, number(classes.size())).first->second);
  }
}

// The switches that the traffic of each NIC may climb to, and their uplinks.
void PlaceClasses::find_switches(Machine const& machine, Resources const& resources, NodeSplit const& split) {
  if (!machine.fabric) return;
  find_switch_classes(machine, resources);
  auto const& fabric = *machine.fabric;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (auto a = split.first_of(HostId(i)).attachment; a < split.first_of(HostId(i + 1)).attachment; ++a) {
      auto const& [nic, leaf, rate] = fabric.attachments[a];
      nodes_[i].cables.push_back({number(index(nic) - nodes_[i].first_function), rate});
      for (std::optional<std::uint32_t> at = leaf; at;) {
        nodes_[i].switches.push_back(*at);
        auto const trunk = resources.fabric_ways().trunk_above(*at);
        at = trunk ? std::optional(fabric.trunks[*trunk].upper) : std::nullopt;
        if (!trunk) continue;
        auto const uplink = resources.trunk(*trunk);
        nodes_[i].resources.insert(nodes_[i].resources.end(), {uplink.up, uplink.down});
      }
    }
}

void PlaceClasses::find_domains(Machine const& machine) {
  std::map<std::pair<PartId, PartId>, std::uint32_t> classes;
  for (auto const& domain : machine.nvswitches) {
    auto const place = number(domain_class_.size());
    domain_class_.push_back(classes.try_emplace({domain.part, domain.link_part}, number(classes.size())).first->second);
    if (domain.host) continue;
    for (auto const& port : domain.ports) {
      auto& node = nodes_[node_of_function_[index(port.gpu)]];
      if (node.domains.empty() || node.domains.back() != place) node.domains.push_back(place);
    }
  }
}

bool PlaceClasses::have_equal_resources(Resources const& resources, std::uint32_t a, std::uint32_t b) const {
  auto const equal = [&](auto one, auto other) { return are_equal(resources.at(one), resources.at(other)); };
  auto const& x = nodes_[a];
  auto const& y = nodes_[b];
  // Uplinks have names of their own, and are compared by their switches.
  auto const own = [&](Node const& node, std::uint32_t n) {
    return std::count_if(node.resources.begin(), node.resources.end(),
                         [&](ResourceId id) { return owner_of_resource_[index(id)].node == n; });
  };
  auto const count = own(x, a);
  return x.resources.size() == y.resources.size() && count == own(y, b) &&
         std::equal(x.resources.begin(), x.resources.begin() + count, y.resources.begin(), equal) &&
         std::equal(x.engines.begin(), x.engines.end(), y.engines.begin(), y.engines.end(), equal);
}

// Nodes are of one kind if they are the same machine, with the same resources and cables.
void PlaceClasses::find_kinds(Machine const& machine, Resources const& resources) {
  std::vector<std::uint32_t> firsts;  // a node of each kind
  for (auto const& same_machine : node_kinds(machine)) {
    auto const begin = static_cast<std::ptrdiff_t>(firsts.size());
    for (auto const host : same_machine.hosts) {
      auto const node = number(index(host));
      auto const known = std::find_if(firsts.begin() + begin, firsts.end(), [&](std::uint32_t first) {
        return nodes_[first].cables == nodes_[node].cables && have_equal_resources(resources, first, node);
      });
      nodes_[node].kind = number(static_cast<std::size_t>(known - firsts.begin()));
      if (known == firsts.end()) firsts.push_back(node);
    }
  }
}

void PlaceClasses::find_likeness() {
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  for (auto& node : nodes_) {
    std::vector<std::uint32_t> key{node.kind};
    for (auto const at : node.switches) key.push_back(switch_class_[at]);
    for (auto const domain : node.domains) key.push_back(domain_class_[domain]);
    node.likeness = known.try_emplace(std::move(key), number(known.size())).first->second;
  }
}

void PlaceClasses::find_relations() {
  using Key = std::tuple<std::uint32_t, std::vector<std::uint32_t>, std::vector<std::uint32_t>>;
  std::map<Key, std::uint32_t> known;
  for (auto& node : nodes_) {
    auto const [found, is_new] = known.try_emplace({node.kind, node.switches, node.domains}, number(variants_.size()));
    node.variant = found->second;
    if (is_new) variants_.push_back(number(static_cast<std::size_t>(&node - nodes_.data())));
  }
  std::map<std::vector<std::uint32_t>, std::uint32_t> patterns;
  auto const relation = [&](Node const& from, Node const& to, bool is_same) {
    return patterns.try_emplace(pattern_of(from, to, is_same), number(patterns.size())).first->second;
  };
  for (auto const node : variants_) relations_within_.push_back(relation(nodes_[node], nodes_[node], true));
  if (variants_.size() > kMaxComparedVariants) return;
  for (auto const from : variants_)
    for (auto const to : variants_) relations_.push_back(relation(nodes_[from], nodes_[to], false));
}

// The kinds of two nodes, their switches and domains, these numbered in the order of their first mention.
std::vector<std::uint32_t> PlaceClasses::pattern_of(Node const& from, Node const& to, bool is_same) const {
  std::vector<std::uint32_t> pattern{is_same ? 1U : 0U, from.kind, to.kind};
  auto const add = [&](auto list, std::vector<std::uint32_t> const& class_of) {
    std::vector<std::uint32_t> mentioned;
    for (auto const* node : {&from, &to})
      for (auto const item : node->*list) {
        auto const found = std::find(mentioned.begin(), mentioned.end(), item);
        pattern.push_back(number(static_cast<std::size_t>(found - mentioned.begin())));
        if (found != mentioned.end()) continue;
        mentioned.push_back(item);
        pattern.push_back(class_of[item]);
      }
    pattern.push_back(kNone);
  };
  add(&Node::switches, switch_class_);
  add(&Node::domains, domain_class_);
  return pattern;
}

std::uint32_t PlaceClasses::relation_of(std::uint32_t from, std::uint32_t to) const {
  if (from == to) return relations_within_[nodes_[from].variant];
  auto const pair = nodes_[from].variant * variants_.size() + nodes_[to].variant;
  return relations_.empty() ? number(relations_within_.size() + pair) : relations_[pair];
}

std::uint32_t PlaceClasses::within_node(Place const& place) const {
  auto const& node = nodes_[node_of(place)];
  if (auto const* id = std::get_if<PciId>(&place)) return number(index(*id) - node.first_function);
  return number(index(std::get<NumaId>(place)) - node.first_numa) | kMemory;
}

PairClass PlaceClasses::of(Place const& from, Place const& to) const {
  return {relation_of(node_of(from), node_of(to)), within_node(from), within_node(to)};
}

template <class Id>
bool PlaceClasses::move(std::optional<Id>& id, Nodes const& at, Nodes const& to) const {
  if (!id) return true;
  auto const node = node_of(*id);
  if (node != at.from && node != at.to) return false;
  auto const target = node == at.from ? to.from : to.to;
  constexpr auto kFirst = std::is_same_v<Id, PciId> ? &Node::first_function : &Node::first_numa;
  id = Id(index(*id) - nodes_[node].*kFirst + nodes_[target].*kFirst);
  return true;
}

std::optional<Way> PlaceClasses::moved(Way way, Nodes const& at, Nodes const& to) const {
  bool const on_two_nodes = move(way.relay, at, to) && move(way.relay_to, at, to) && move(way.staging, at, to) &&
                            move(way.staging_to, at, to) && move(way.nic_from, at, to) && move(way.nic_to, at, to);
  return on_two_nodes ? std::optional(way) : std::nullopt;
}

std::optional<PlaceClasses::Slot> PlaceClasses::slot_of(ResourceId id, Nodes const& at) const {
  if (nodes_.size() == 1) return Slot{Slot::Of::Machine, number(index(id))};
  auto const owner = owner_of_resource_[index(id)];
  if (owner.node == at.from) return Slot{Slot::Of::From, owner.number};
  if (owner.node == at.to) return Slot{Slot::Of::To, owner.number};
  if (owner.node != kNone) return std::nullopt;
  for (auto const of : {Slot::Of::From, Slot::Of::To}) {
    auto const& all = nodes_[of == Slot::Of::From ? at.from : at.to].resources;
    auto const found = std::find(all.begin(), all.end(), id);
    if (found != all.end()) return Slot{of, number(static_cast<std::size_t>(found - all.begin()))};
  }
  return Slot{Slot::Of::Machine, number(index(id))};
}

std::optional<PlaceClasses::Slot> PlaceClasses::slot_of(EngineId id, Nodes const& at) const {
  if (nodes_.size() == 1) return Slot{Slot::Of::Machine, number(index(id))};
  auto const owner = owner_of_engine_[index(id)];
  if (owner.node == kNone) return Slot{Slot::Of::Machine, number(index(id))};
  if (owner.node == at.from) return Slot{Slot::Of::From, owner.number};
  if (owner.node == at.to) return Slot{Slot::Of::To, owner.number};
  return std::nullopt;
}

}  // namespace lanewise
