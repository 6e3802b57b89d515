#include "core/planner/collectives/cut_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

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

void add_link(Ports& ports, Model const& model, Duplex const& direction, bool up_is_out) {
  auto const out = model.capacity(up_is_out ? direction.up : direction.down);
  auto const in = model.capacity(up_is_out ? direction.down : direction.up);
  ports.known = ports.known && out && in;
  if (out) ports.out += out->value();
  if (in) ports.in += in->value();
}

// Everything that joins some GPUs of a node with the rest of the world.
Ports ports_of(Model const& model, std::vector<PciId> const& gpus) {
  auto const& machine = model.machine();
  auto const& resources = model.resources();
  Ports ports;
  auto const is_inside = [&](NvlinkEnd const& end) {
    return std::any_of(gpus.begin(), gpus.end(), [&](PciId gpu) { return end == NvlinkEnd(gpu); });
  };
  for (auto const gpu : gpus) add_link(ports, model, resources.link_above(gpu).direction, true);
  for (std::size_t i = 0; i < machine.nvlinks.size(); ++i) {
    bool const from = is_inside(machine.nvlinks[i].a);
    if (from != is_inside(machine.nvlinks[i].b)) add_link(ports, model, resources.nvlink(i).direction, from);
  }
  for (std::size_t d = 0; d < machine.nvswitches.size(); ++d)
    for (std::size_t p = 0; p < machine.nvswitches[d].ports.size(); ++p)
      if (is_inside(machine.nvswitches[d].ports[p].gpu))
        add_link(ports, model, resources.nvswitch_port(d, p).direction, true);
  return ports;
}

// A node's NICs: each is on the fabric by its ports and on the node by its PCIe link.
Ports ports_of(Model const& model, HostId host) {
  auto const& machine = model.machine();
  if (!machine.fabric) return {0, 0, false};
  std::map<PciId, Ports> by_nic;
  for (auto const& attachment : machine.fabric->attachments)
    if (machine.host_of(attachment.nic) == host)
      add_link(by_nic[attachment.nic], model, model.resources().wire(attachment.nic), true);
  Ports ports;
  for (auto const& [nic, wires] : by_nic) {
    Ports link;
    add_link(link, model, model.resources().link_above(nic).direction, false);
    ports.known = ports.known && wires.known && link.known;
    ports.out += std::min(wires.out, link.out);
    ports.in += std::min(wires.in, link.in);
  }
  return ports;
}

// Leaf switches that share nodes, and what their uplinks carry to the spines.
struct LeafGroup {
  std::set<std::uint32_t> leaves;
  std::set<HostId> nodes;
  Ports uplinks;
};

std::vector<LeafGroup> leaf_groups(Model const& model, std::map<HostId, Membership> const& nodes) {
  std::vector<LeafGroup> groups;
  for (auto const& attachment : model.machine().fabric->attachments) {
    auto const node = model.machine().host_of(attachment.nic);
    if (!nodes.contains(node)) continue;
    LeafGroup joined{{attachment.leaf}, {node}, {}};
    std::erase_if(groups, [&](LeafGroup const& group) {
      if (!group.leaves.contains(attachment.leaf) && !group.nodes.contains(node)) return false;
      joined.leaves.insert(group.leaves.begin(), group.leaves.end());
      joined.nodes.insert(group.nodes.begin(), group.nodes.end());
      return true;
    });
    groups.push_back(std::move(joined));
  }
  for (auto& group : groups)
    for (auto const leaf : group.leaves)
      if (auto const uplink = model.resources().uplink(leaf)) add_link(group.uplinks, model, *uplink, true);
  return groups;
}

class CutBounds {
 public:
  CutBounds(Collective const& collective, Model const& model) : collective_(collective), model_(model) {}

  std::vector<CutBound> find() {
    auto const& machine = model_.machine();
    for (auto const& place : collective_.among)
      if (!gpu_at(machine, place)) return {};
    add_participants();
    add_nodes();
    if (members_by_node(collective_, machine).size() == 1) add_islands();
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

  // Around each participant, and the ports of all of them together.
  void add_participants() {
    auto const& machine = model_.machine();
    auto const n = collective_.among.size();
    Ports all;
    Traffic traffic;
    double sent = 0;
    for (std::size_t i = 0; i < n; ++i) {
      auto const gpu = *gpu_at(machine, collective_.among[i]);
      auto const ports = ports_of(model_, {gpu});
      all.known = all.known && ports.known;
      all.out += ports.out;
      all.in += ports.in;
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
    Ports nics;
    Traffic traffic;
    double sent = 0;
    auto const groups = static_cast<double>(nodes.size());
    auto const count = [](Membership const& members) { return std::count(members.begin(), members.end(), true); };
    bool even = true;
    for (auto const& [host, members] : nodes) {
      auto const ports = ports_of(model_, host);
      nics.known = nics.known && ports.known;
      nics.out += ports.out;
      nics.in += ports.in;
      even = even && count(members) == count(nodes.begin()->second);
      traffic = min_traffic(collective_, members, groups);
      sent += traffic.out;
      add(traffic, ports, model_.machine().at(host).name + "'s NICs");
    }
    auto const all = collective_.op == CollectiveOp::AllToAllV ? sent : traffic.all;
    if (nics.known && even) add(all, std::min(nics.out, nics.in), "all NICs");
    if (model_.machine().fabric) add_leaf_groups(nodes);
  }

  // Around what each group of leaf switches joins.
  void add_leaf_groups(std::map<HostId, Membership> const& nodes) {
    auto const groups = leaf_groups(model_, nodes);
    if (groups.size() < 2) return;
    for (auto const& group : groups) {
      Membership member(collective_.among.size(), false);
      for (auto const node : group.nodes)
        for (std::size_t i = 0; i < member.size(); ++i) member[i] = member[i] || nodes.at(node)[i];
      auto const& name = model_.machine().fabric->leaves[*group.leaves.begin()].name;
      auto const more = group.leaves.size() - 1;
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
