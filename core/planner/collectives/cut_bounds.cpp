#include "core/planner/collectives/cut_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/machine/fabric_ways.hpp"
#include "core/machine/nic_port.hpp"
#include "core/machine/nvlink_domains.hpp"
#include "core/model/place_classes.hpp"
#include "core/model/resources/figures.hpp"
#include "core/planner/collectives/algorithms/rings.hpp"
#include "core/planner/collectives/collective_traffic.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

// The links across a cut, in bytes per second.
struct Ports {
  double out = 0;
  double in = 0;
  bool known = true;  // the capacity of every link
};

// `weight`: what a byte takes of the link at least.
void add_link(Ports& ports, Model const& model, Duplex const& direction, bool up_is_out, double weight = 1) {
  auto const out = model.capacity(up_is_out ? direction.up : direction.down);
  auto const in = model.capacity(up_is_out ? direction.down : direction.up);
  ports.known = ports.known && out && in;
  if (out) ports.out += out->value() / weight;
  if (in) ports.in += in->value() / weight;
}

// What passes two ports in turn.
void add_smaller(Ports& ports, Ports const& one, Ports const& other) {
  ports.known = ports.known && one.known && other.known;
  ports.out += std::min(one.out, other.out);
  ports.in += std::min(one.in, other.in);
}

// Capacities of NVLink are those of copies; kernels may carry more.
double least_weight(Machine const& machine, PartId part) {
  auto const& link = machine.at(part).link;
  auto const kernels = std::max(figures::load_efficiency(link), figures::load_store_efficiency(link));
  auto const weight = figures::copy_efficiency(link) / kernels;
  return weight < 1 ? Weight::floor_of(weight).ratio() : 1;
}

bool is_below_switch(Machine const& machine, PciId device) {
  auto const parent = machine.at(device).parent;
  return parent && machine.at(*parent).kind == PciKind::Switch;
}

// Everything that joins some GPUs of a node with the rest of the world.
Ports ports_of(Model const& model, std::vector<PciId> const& gpus) {
  auto const& machine = model.machine();
  auto const& resources = model.resources();
  Ports ports;
  auto const is_inside = [&](NvlinkEnd const& end) {
    return std::any_of(gpus.begin(), gpus.end(), [&](PciId gpu) { return end == NvlinkEnd(gpu); });
  };
  for (auto const gpu : gpus)  // what is coherent with its CPU uses the PCIe link that it shows only below a switch
    if (!coherent_with_cpu(machine, gpu) || is_below_switch(machine, gpu))
      add_link(ports, model, resources.link_above(gpu).direction, true);
  for (std::size_t i = 0; i < machine.nvlinks.size(); ++i) {
    bool const from = is_inside(machine.nvlinks[i].a);
    if (from != is_inside(machine.nvlinks[i].b))
      add_link(ports, model, resources.nvlink(i).direction, from, least_weight(machine, machine.nvlinks[i].part));
  }
  for (std::size_t d = 0; d < machine.nvswitches.size(); ++d)
    for (std::size_t p = 0; p < machine.nvswitches[d].ports.size(); ++p)
      if (is_inside(machine.nvswitches[d].ports[p].gpu))
        add_link(ports, model, resources.nvswitch_port(d, p).direction, true,
                 least_weight(machine, machine.nvswitches[d].link_part));
  return ports;
}

// The NICs of each node, or of all nodes of a domain: each is on the fabric by its port and on the node by its PCIe
// link. An adapter that several nodes share has a link in each: each may use its whole port, together they use it once.
struct NicPorts {
  std::map<HostId, Ports> of_nodes;
  std::map<PciId, std::map<HostId, Ports>> links;  // by port
  std::map<PciId, Ports> wires;
};

NicPorts nics_of_nodes(Model const& model, std::vector<HostId> const& first_nodes) {
  auto const& machine = model.machine();
  NicPorts nics;
  std::optional<PciId> before;
  for (auto const& attachment : machine.fabric->attachments) {
    if (attachment.nic == std::exchange(before, attachment.nic)) continue;  // in another plane
    auto const port = port_owner(machine, attachment.nic);
    if (!nics.wires.contains(port)) add_link(nics.wires[port], model, model.resources().wire(port), true);
    auto& link = nics.links[port][first_nodes[index(machine.host_of(attachment.nic))]];
    add_link(link, model, model.resources().link_above(attachment.nic).direction, false);
  }
  for (auto const& [port, links] : nics.links)
    for (auto const& [node, link] : links) add_smaller(nics.of_nodes[node], nics.wires[port], link);
  return nics;
}

// Of all NICs of these nodes together.
Ports all_nics(NicPorts const& nics, std::map<HostId, Membership> const& nodes) {
  Ports all;
  for (auto const& [port, links] : nics.links) {
    Ports link;
    bool is_theirs = false;
    for (auto const& [node, of_node] : links) {
      if (!nodes.contains(node)) continue;
      is_theirs = true;
      link = {link.out + of_node.out, link.in + of_node.in, link.known && of_node.known};
    }
    if (is_theirs) add_smaller(all, nics.wires.at(port), link);
  }
  return all;
}

// The highest switch of a tier, or of one below it, that each switch leads to.
std::vector<std::uint32_t> switches_of_tier(Fabric const& fabric, FabricWays const& ways, int tier) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t at = 0; at < fabric.switches.size(); ++at) {
    auto top = at;
    for (auto trunk = ways.trunk_above(top); trunk && fabric.switches[fabric.trunks[*trunk].upper].tier <= tier;
         trunk = ways.trunk_above(top))
      top = fabric.trunks[*trunk].upper;
    result.push_back(top);
  }
  return result;
}

// Switches that share nodes, with what is below them, and what their uplinks carry to higher tiers.
struct SwitchGroup {
  std::set<std::uint32_t> switches;
  std::set<HostId> nodes;
  Ports uplinks;
};

std::vector<SwitchGroup> switch_groups(Model const& model, std::map<HostId, Membership> const& nodes, int tier) {
  auto const& fabric = *model.machine().fabric;
  auto const& ways = model.resources().fabric_ways();
  auto const tops = switches_of_tier(fabric, ways, tier);
  auto const first_nodes = first_nodes_of_domains(model.machine());
  std::vector<SwitchGroup> groups;
  for (auto const& attachment : fabric.attachments) {
    auto const node = first_nodes[index(model.machine().host_of(attachment.nic))];
    if (!nodes.contains(node)) continue;
    auto const top = tops[attachment.at];
    SwitchGroup joined{{top}, {node}, {}};
    std::erase_if(groups, [&](SwitchGroup const& group) {
      if (!group.switches.contains(top) && !group.nodes.contains(node)) return false;
      joined.switches.insert(group.switches.begin(), group.switches.end());
      joined.nodes.insert(group.nodes.begin(), group.nodes.end());
      return true;
    });
    groups.push_back(std::move(joined));
  }
  for (auto& group : groups)
    for (auto const one : group.switches)
      if (auto const trunk = ways.trunk_above(one))
        add_link(group.uplinks, model, model.resources().trunk(*trunk), true,
                 ways.weight_scale(fabric.switches[one].network));
  return groups;
}

class CutBounds {
 public:
  CutBounds(Collective const& collective, Model const& model) : collective_(collective), model_(model) {}

  std::vector<CutBound> find() {
    auto const& machine = model_.machine();
    // Host memory has no port of its own; what leaves its node passes the NICs all the same.
    bool const are_gpus = std::all_of(collective_.among.begin(), collective_.among.end(),
                                      [&](Place const& place) { return gpu_at(machine, place).has_value(); });
    if (are_gpus) add_participants();
    add_nodes();
    if (are_gpus && members_by_node(collective_, machine).size() == 1) add_islands();
    return std::move(bounds_);
  }

 private:
  void add(double bytes, double rate, std::string name, std::optional<std::size_t> participant = {}) {
    if (rate > 0 && bytes > 0) bounds_.push_back({std::move(name), Seconds(bytes / rate), participant});
  }
  void add(Traffic const& traffic, Ports const& ports, std::string const& name,
           std::optional<std::size_t> participant = {}) {
    if (!ports.known) return;
    add(traffic.out, ports.out, "out of " + name, participant);
    add(traffic.in, ports.in, "into " + name, participant);
  }

  // Equal for nodes that have equal ports; nullopt where nodes are not told apart.
  [[nodiscard]] std::optional<std::uint32_t> likeness_of(HostId host) const {
    auto const& classes = model_.classes();
    return classes.has_nodes() ? std::optional(classes.likeness_of(host)) : std::nullopt;
  }
  // Whether what must reach or leave a participant depends on more than its ports.
  [[nodiscard]] bool is_special(std::size_t i) const {
    return collective_.op == CollectiveOp::AllToAllV || i == collective_.root || i == 0 ||
           i + 1 == collective_.among.size();
  }

  // Around each participant, and the ports of all of them together.
  void add_participants() {
    auto const& machine = model_.machine();
    auto const n = collective_.among.size();
    Ports all;
    Traffic traffic;
    double sent = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Ports> known;  // of GPUs that are alike
    for (std::size_t i = 0; i < n; ++i) {
      auto const gpu = *gpu_at(machine, collective_.among[i]);
      auto const likeness = likeness_of(machine.host_of(gpu));
      auto const same = likeness ? known.find({*likeness, model_.classes().within_node(gpu)}) : known.end();
      auto const ports = same != known.end() ? same->second : ports_of(model_, {gpu});
      if (likeness && same == known.end())
        known.emplace(std::pair(*likeness, model_.classes().within_node(gpu)), ports);
      all.known = all.known && ports.known;
      all.out += ports.out;
      all.in += ports.in;
      if (same != known.end() && !is_special(i)) continue;  // no other bound than the other's
      Membership member(n, false);
      member[i] = true;
      traffic = min_traffic(collective_, member, static_cast<double>(n));
      sent += traffic.out;
      add(traffic, ports, machine.at(gpu).name, i);
    }
    auto const together = collective_.op == CollectiveOp::AllToAllV ? sent : traffic.all;
    if (all.known) add(together, std::min(all.out, all.in), "all GPUs' ports");
  }

  // Around each node, and the NICs of all of them together if all nodes have equally many participants.
  void add_nodes() {
    auto const nodes = members_by_node(collective_, model_.machine());
    if (nodes.size() < 2) return;
    Traffic traffic;
    double sent = 0;
    auto const groups = static_cast<double>(nodes.size());
    auto const count = [](Membership const& members) { return std::count(members.begin(), members.end(), true); };
    bool even = true;
    auto const first_nodes = first_nodes_of_domains(model_.machine());
    auto const& fabric = model_.machine().fabric;
    auto const nics = fabric ? nics_of_nodes(model_, first_nodes) : NicPorts();
    auto const count_of_first = count(nodes.begin()->second);
    for (auto const& [host, members] : nodes) {
      auto const found = nics.of_nodes.find(host);
      auto const ports = found != nics.of_nodes.end() ? found->second : Ports{0, 0, fabric.has_value()};
      even = even && count(members) == count_of_first;
      traffic = min_traffic(collective_, members, groups);
      sent += traffic.out;
      auto const together = std::count(first_nodes.begin(), first_nodes.end(), host);
      auto const& name = model_.machine().at(host).name;
      add(traffic, ports,
          together > 1 ? fmt::format("the NICs of {} and {} more nodes", name, together - 1) : name + "'s NICs");
    }
    auto const all = collective_.op == CollectiveOp::AllToAllV ? sent : traffic.all;
    if (!fabric) return;
    if (auto const together = all_nics(nics, nodes); together.known && even)
      add(all, std::min(together.out, together.in), "all NICs");
    if (!model_.resources().fabric_ways().is_tree()) return;
    for (int tier = 0; tier < fabric->switches.back().tier; ++tier) add_switch_groups(nodes, tier);
  }

  // Around what each group of switches of a tier joins.
  void add_switch_groups(std::map<HostId, Membership> const& nodes, int tier) {
    auto const groups = switch_groups(model_, nodes, tier);
    if (groups.size() < 2) return;
    std::vector<HostId> node_of;
    auto const first_nodes = first_nodes_of_domains(model_.machine());
    for (auto const& place : collective_.among) node_of.push_back(first_nodes[index(model_.machine().host_of(place))]);
    for (auto const& group : groups) {
      std::vector<bool> is_inside(model_.machine().hosts.size(), false);
      for (auto const node : group.nodes) is_inside[index(node)] = true;
      Membership member;
      for (auto const node : node_of) member.push_back(is_inside[index(node)]);
      auto const& name = model_.machine().fabric->switches[*group.switches.begin()].name;
      auto const more = group.switches.size() - 1;
      add(min_traffic(collective_, member, static_cast<double>(groups.size())), group.uplinks,
          more == 0 ? fmt::format("{}'s uplinks", name) : fmt::format("the uplinks of {} and {} more", name, more));
    }
  }

  // Around the NVLink islands of a node.
  void add_islands() {
    auto const& machine = model_.machine();
    auto const islands = nvlink_islands(machine, collective_.among);
    if (islands.size() < 2) return;
    for (auto const& island : islands) {
      if (island.size() == 1) continue;  // the participant's own cut
      std::vector<PciId> gpus;
      Membership member(collective_.among.size(), false);
      for (auto const i : island) {
        member[i] = true;
        gpus.push_back(*gpu_at(machine, collective_.among[i]));
      }
      add(min_traffic(collective_, member, static_cast<double>(islands.size())), ports_of(model_, gpus),
          fmt::format("{} and {} more", machine.at(gpus.front()).name, gpus.size() - 1));
    }
  }

  Collective const& collective_;
  Model const& model_;
  std::vector<CutBound> bounds_;
};

}  // namespace

std::vector<CutBound> cut_bounds(Collective const& collective, Model const& model) {
  return CutBounds(collective, model).find();
}

}  // namespace lanewise
