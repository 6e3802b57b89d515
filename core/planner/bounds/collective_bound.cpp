// What no algorithm of a collective can beat: whatever is computed where, so much must leave and reach each participant
// and each node, in closed form; of two participants, so much must pass between them; within a node, what comes into
// groups of them, and trees that carry everything, as linear programs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/planner/bounds/collective_bound.hpp"

#include "core/planner/bounds/ingress_bound.hpp"
#include "core/planner/collectives/cut_bounds.hpp"
#include "core/planner/collectives/rings.hpp"
#include "core/planner/collectives/trees/tree_packing.hpp"
#include "core/planner/planner.hpp"
#include "core/rules/conditions.hpp"
#include "core/solver/linear_program.hpp"

namespace lanewise {
namespace {

struct Ports {
  double out = 0;  // bytes a second
  double in = 0;
  bool known = true;
};

// Everything that joins some GPUs of a node with the rest of the world.
Ports ports_of(Model const& model, std::vector<PciId> const& gpus) {
  auto const& machine = model.machine();
  auto const& resources = model.resources();
  Ports ports;
  auto const add = [&](Duplex const& direction, bool up_is_out) {
    auto const out = model.capacity(up_is_out ? direction.up : direction.down);
    auto const in = model.capacity(up_is_out ? direction.down : direction.up);
    ports.known = ports.known && out && in;
    if (out) ports.out += out->value();
    if (in) ports.in += in->value();
  };
  auto const within = [&](NvlinkEnd const& end) {
    return std::any_of(gpus.begin(), gpus.end(), [&](PciId gpu) { return end == NvlinkEnd(gpu); });
  };
  for (auto const gpu : gpus) add(resources.link_above(gpu).direction, true);
  for (std::size_t i = 0; i < machine.nvlinks.size(); ++i) {
    bool const from = within(machine.nvlinks[i].a);
    if (from != within(machine.nvlinks[i].b)) add(resources.nvlink(i).direction, from);
  }
  for (std::size_t d = 0; d < machine.nvswitches.size(); ++d)
    for (std::size_t p = 0; p < machine.nvswitches[d].ports.size(); ++p)
      if (within(machine.nvswitches[d].ports[p].gpu)) add(resources.nvswitch_port(d, p).direction, true);
  return ports;
}

// Of a node: its NICs on the fabric.
Ports ports_of(Model const& model, HostId host) {
  Ports ports;
  if (!model.machine().fabric) return {0, 0, false};
  for (auto const& attachment : model.machine().fabric->attachments) {
    if (model.machine().host_of(attachment.nic) != host) continue;
    auto const wire = model.resources().wire(attachment.nic);
    auto const out = model.capacity(wire.up);
    auto const in = model.capacity(wire.down);
    ports.known = ports.known && out && in;
    if (out) ports.out += out->value();
    if (in) ports.in += in->value();
  }
  return ports;
}

// What some of the participants, one of `parts` such groups, must send and receive at least.
struct Traffic {
  double out = 0;
  double in = 0;
  double all = 0;  // of all parts together, in and out alike
};

// Of an all-to-all with uneven parts: what the members' rows and columns say of others.
Traffic uneven_traffic(Collective const& collective, std::vector<bool> const& member) {
  Traffic traffic;
  for (std::size_t i = 0; i < member.size(); ++i)
    for (std::size_t j = 0; j < member.size(); ++j) {
      if (member[i] == member[j]) continue;
      (member[i] ? traffic.out : traffic.in) += static_cast<double>(collective.sizes[i][j].value());
    }
  return traffic;
}

Traffic traffic_of(Collective const& collective, std::vector<bool> const& member, double parts) {
  auto const bytes = static_cast<double>(collective.bytes.value());
  auto const members = static_cast<double>(std::count(member.begin(), member.end(), true));
  auto const share = members / static_cast<double>(member.size());
  auto const others = 1 - share;
  bool const has_root = member[collective.root];
  switch (collective.op) {
    case CollectiveOp::Broadcast: return {has_root ? bytes : 0, has_root ? 0 : bytes, (parts - 1) * bytes};
    case CollectiveOp::Scatter: return {has_root ? others * bytes : 0, has_root ? 0 : share * bytes, 0};
    case CollectiveOp::Gather: return {has_root ? 0 : share * bytes, has_root ? others * bytes : 0, 0};
    case CollectiveOp::AllGather: return {share * bytes, others * bytes, (parts - 1) * bytes};
    // Each element: every part but one must say something of it, to whom it ends at.
    case CollectiveOp::ReduceScatter: return {others * bytes, share * bytes, (parts - 1) * bytes};
    // Each element: every part has a say and must hear the result.
    case CollectiveOp::AllReduce: return {bytes, bytes, 2 * (parts - 1) * bytes};
    case CollectiveOp::AllToAll:
      return {members * others * bytes, members * others * bytes, parts * members * others * bytes};
    case CollectiveOp::AllToAllV: return uneven_traffic(collective, member);
    // Everyone but the last passes on what everyone but the first gets.
    case CollectiveOp::Chain: return {member.back() ? 0 : bytes, member.front() ? 0 : bytes, (parts - 1) * bytes};
  }
  return {};
}

class Cuts {
 public:
  void offer(double bytes, double rate, std::string name, std::optional<std::size_t> participant = {}) {
    if (rate > 0 && bytes > 0) list_.push_back({std::move(name), Seconds(bytes / rate), participant});
  }
  void offer(Traffic const& traffic, Ports const& ports, std::string const& name,
             std::optional<std::size_t> participant = {}) {
    if (!ports.known) return;
    offer(traffic.out, ports.out, "out of " + name, participant);
    offer(traffic.in, ports.in, "into " + name, participant);
  }
  [[nodiscard]] std::vector<CutBound> take() { return std::move(list_); }

 private:
  std::vector<CutBound> list_;
};

// The participants by node.
std::map<HostId, std::vector<bool>> nodes_of(Collective const& collective, Machine const& machine) {
  std::map<HostId, std::vector<bool>> nodes;
  for (std::size_t i = 0; i < collective.among.size(); ++i) {
    auto& members = nodes[machine.host_of(collective.among[i])];
    members.resize(collective.among.size(), false);
    members[i] = true;
  }
  return nodes;
}

// Node by node, and all of them together where each has equally many participants.
void offer_nodes(Collective const& collective, Model const& model, Cuts& cuts) {
  auto const nodes = nodes_of(collective, model.machine());
  if (nodes.size() < 2) return;
  Ports nics;
  Traffic traffic;
  double sent = 0;
  auto const parts = static_cast<double>(nodes.size());
  auto const count = [](std::vector<bool> const& members) { return std::count(members.begin(), members.end(), true); };
  bool even = true;
  for (auto const& [host, members] : nodes) {
    auto const ports = ports_of(model, host);
    nics.known = nics.known && ports.known;
    nics.out += ports.out;
    nics.in += ports.in;
    even = even && count(members) == count(nodes.begin()->second);
    traffic = traffic_of(collective, members, parts);
    sent += traffic.out;
    cuts.offer(traffic, ports, model.machine().at(host).name + "'s NICs");
  }
  auto const all = collective.op == CollectiveOp::AllToAllV ? sent : traffic.all;
  if (nics.known && even) cuts.offer(all, std::min(nics.out, nics.in), "all NICs");
}

// Parts of a node between which there is no NVLink.
void offer_islands(Collective const& collective, Model const& model, Cuts& cuts) {
  auto const& machine = model.machine();
  auto const islands = nvlink_islands(machine, collective.among);
  if (islands.size() < 2) return;
  for (auto const& island : islands) {
    if (island.size() == 1) continue;  // as by itself
    std::vector<PciId> gpus;
    std::vector<bool> member(collective.among.size(), false);
    for (auto const i : island) {
      member[i] = true;
      gpus.push_back(*gpu_at(machine, collective.among[i]));
    }
    cuts.offer(traffic_of(collective, member, static_cast<double>(islands.size())), ports_of(model, gpus),
               fmt::format("{} and {} more", machine.at(gpus.front()).name, gpus.size() - 1));
  }
}

// Of two participants: nobody stands between them, so what each must tell the other goes any of the ways that a
// transfer has, by engines or by kernels.
std::optional<LowerBound> bound_of_two(Collective const& collective, Model const& model) {
  Planner const planner(model);
  std::vector<OpenTransfer> transfers;
  for (std::size_t i = 0; i < 2; ++i) {
    auto const sent = traffic_of(collective, {i == 0, i == 1}, 2).out;
    auto const& from = collective.among[i];
    auto const& to = collective.among[1 - i];
    OpenTransfer transfer{model.machine().name_of(from), from, to, Bytes(static_cast<std::int64_t>(sent)), {}, {}, {}};
    if (transfer.bytes == Bytes(0)) continue;
    for (auto const op : {Op::Copy, Op::Write, Op::Read}) {
      transfer.op = op;
      auto const choice =
          planner.choose({.id = transfer.id, .from = from, .to = to, .bytes = transfer.bytes, .op = op});
      for (auto const& judged : choice.evaluated)
        if (judged.refused_by == nullptr && judged.cost)
          transfer.options.push_back(transfer_option_of(model, transfer, judged.way, transfer.options.size()));
    }
    transfers.push_back(std::move(transfer));
  }
  return lower_bound(transfers, model);
}

// The participants, and all else in their node that could pass data on: other GPUs and host memory.
Sites whole_node(Collective const& collective, Model const& model) {
  auto const& machine = model.machine();
  Sites sites{collective.among, collective.among.size()};
  auto const host = machine.host_of(collective.among.front());
  auto const add = [&](Place const& place) {
    auto const& among = collective.among;
    if (machine.host_of(place) == host && std::find(among.begin(), among.end(), place) == among.end())
      sites.places.push_back(place);
  };
  for (auto const gpu : machine.all(PciKind::Gpu)) add(gpu);
  for (std::size_t m = 0; m < machine.numa_nodes.size(); ++m) add(NumaId(m));
  return sites;
}

std::optional<LowerBound> longer(std::optional<LowerBound> one, std::optional<LowerBound> other) {
  return !one || (other && other->makespan > one->makespan) ? std::move(other) : std::move(one);
}

// Whether nothing but whole ways of transfers between two does it: packed trees, within a node, stage piece by piece as
// they like.
bool only_transfers(Collective const& collective, Machine const& machine) {
  if (collective.among.size() != 2) return false;
  bool const has_trees = collective.op == CollectiveOp::AllGather || collective.op == CollectiveOp::Broadcast;
  bool const may_have = linear_solver() || collective.algorithm == Algorithm::PackedTrees;
  return !has_trees || !may_have || nodes_of(collective, machine).size() > 1;
}

// Participants that are nearer to one another than to the rest, as members of a node: each by itself, those that NVLink
// joins, those of a NUMA node and those below a PCIe function. Data that circulate within a group must have come into
// it.
std::set<std::vector<bool>> groups_of(Collective const& collective, Machine const& machine) {
  auto const n = collective.among.size();
  std::set<std::vector<bool>> groups;
  auto const add = [&](auto const& is_in) {
    std::vector<bool> group(n);
    for (std::size_t i = 0; i < n; ++i) group[i] = is_in(i);
    auto const count = std::count(group.begin(), group.end(), true);
    if (count > 0 && count < static_cast<std::ptrdiff_t>(n)) groups.insert(std::move(group));
  };
  for (auto const& island : nvlink_islands(machine, collective.among))
    add([&](std::size_t i) { return std::find(island.begin(), island.end(), i) != island.end(); });
  auto const gpu = [&](std::size_t i) { return std::get<PciId>(collective.among[i]); };
  auto const is_below = [&](PciId function, PciId top) {
    for (auto above = machine.at(function).parent; above; above = machine.at(*above).parent)
      if (*above == top) return true;
    return false;
  };
  for (std::size_t one = 0; one < n; ++one) {
    add([&](std::size_t i) { return i == one; });
    add([&](std::size_t i) { return machine.numa_of(gpu(i)) == machine.numa_of(gpu(one)); });
    for (auto above = machine.at(gpu(one)).parent; above; above = machine.at(*above).parent)
      add([&](std::size_t i) { return is_below(gpu(i), *above); });
  }
  return groups;
}

// The host memory whose own these participants are and no others.
std::optional<NumaId> memory_of_all(std::vector<bool> const& members, Collective const& collective,
                                    Machine const& machine) {
  std::set<NumaId> inside;
  std::set<NumaId> outside;
  for (std::size_t i = 0; i < members.size(); ++i)
    (members[i] ? inside : outside).insert(machine.numa_of(std::get<PciId>(collective.among[i])));
  if (inside.size() != 1 || outside.contains(*inside.begin())) return std::nullopt;
  return *inside.begin();
}

// Of participants of one node, by all that joins them.
std::optional<LowerBound> bound_of_node(Collective const& collective, Model const& model) {
  constexpr std::size_t kMaxWeighed = 16;  // of more, the program takes longer than their plan
  auto const n = collective.among.size();
  if (n > kMaxWeighed || nodes_of(collective, model.machine()).size() > 1) return std::nullopt;
  std::vector<RequiredTraffic> traffic;
  for (auto const& members : groups_of(collective, model.machine())) {
    auto const least = traffic_of(collective, members, static_cast<double>(n));
    auto& group = traffic.emplace_back();
    group.out = least.out;
    group.in = least.in;
    for (std::size_t i = 0; i < n; ++i)
      if (members[i]) group.of.push_back(collective.among[i]);
    if (auto const memory = memory_of_all(members, collective, model.machine())) {
      traffic.push_back(group);
      traffic.back().of.emplace_back(*memory);
    }
  }
  return longer(ingress_bound(traffic, model), packing_bound(collective, whole_node(collective, model), model));
}

}  // namespace

std::vector<CutBound> cut_bounds(Collective const& collective, Model const& model) {
  auto const& machine = model.machine();
  auto const n = collective.among.size();
  Cuts cuts;
  Ports all;
  Traffic traffic;
  double sent = 0;
  for (std::size_t i = 0; i < n; ++i) {
    auto const gpu = gpu_at(machine, collective.among[i]);
    if (!gpu) return {};
    auto const ports = ports_of(model, {*gpu});
    all.known = all.known && ports.known;
    all.out += ports.out;
    all.in += ports.in;
    std::vector<bool> member(n, false);
    member[i] = true;
    traffic = traffic_of(collective, member, static_cast<double>(n));
    sent += traffic.out;
    cuts.offer(traffic, ports, machine.at(*gpu).name, i);
  }
  auto const together = collective.op == CollectiveOp::AllToAllV ? sent : traffic.all;
  if (all.known) cuts.offer(together, std::min(all.out, all.in), "all GPUs' ports");
  offer_nodes(collective, model, cuts);
  if (nodes_of(collective, machine).size() == 1) offer_islands(collective, model, cuts);
  return cuts.take();
}

std::optional<LowerBound> collective_bound(Collective const& collective, Model const& model) {
  bool const on_gpus = std::all_of(collective.among.begin(), collective.among.end(),
                                   [&](Place const& place) { return gpu_at(model.machine(), place).has_value(); });
  if (!on_gpus) return std::nullopt;
  auto best =
      only_transfers(collective, model.machine()) ? bound_of_two(collective, model) : bound_of_node(collective, model);
  for (auto& cut : cut_bounds(collective, model))
    if (!best || cut.time > best->makespan) best = LowerBound{cut.time, {{std::move(cut.name), 1.0}}};
  return best;
}

}  // namespace lanewise
