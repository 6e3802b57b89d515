// What no algorithm of a collective can beat, in closed form: whatever is computed where, so much must leave and reach
// each participant and each node.
#include <algorithm>
#include <map>

#include "core/planner/collectives/plan_collective.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise {
namespace {

struct Ports {
  double out = 0;  // bytes a second
  double in = 0;
  bool known = true;
};

// Everything that joins a GPU with the rest of the world.
Ports ports_of(Model const& model, PciId gpu) {
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
  add(resources.link_above(gpu).direction, true);
  for (std::size_t i = 0; i < machine.nvlinks.size(); ++i) {
    if (machine.nvlinks[i].a == NvlinkEnd(gpu)) add(resources.nvlink(i).direction, true);
    if (machine.nvlinks[i].b == NvlinkEnd(gpu)) add(resources.nvlink(i).direction, false);
  }
  for (std::size_t d = 0; d < machine.nvswitches.size(); ++d)
    for (std::size_t p = 0; p < machine.nvswitches[d].ports.size(); ++p)
      if (machine.nvswitches[d].ports[p].gpu == gpu) add(resources.nvswitch_port(d, p).direction, true);
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

// What a part of the participants, `share` of all and one of `parts` such, must send and receive at least.
struct Traffic {
  double out = 0;
  double in = 0;
  double all = 0;  // of all parts together, in and out alike
};
Traffic traffic_of(Collective const& collective, double share, double parts, bool has_root) {
  auto const bytes = static_cast<double>(collective.bytes.value());
  auto const others = 1 - share;
  switch (collective.op) {
    case CollectiveOp::Broadcast: return {has_root ? bytes : 0, has_root ? 0 : bytes, (parts - 1) * bytes};
    case CollectiveOp::Scatter: return {has_root ? others * bytes : 0, has_root ? 0 : share * bytes, 0};
    case CollectiveOp::Gather: return {has_root ? 0 : share * bytes, has_root ? others * bytes : 0, 0};
    case CollectiveOp::AllGather: return {share * bytes, others * bytes, (parts - 1) * bytes};
    // Each element: every part but one must say something of it, to whom it ends at.
    case CollectiveOp::ReduceScatter: return {others * bytes, share * bytes, (parts - 1) * bytes};
    // Each element: every part has a say and must hear the result.
    case CollectiveOp::AllReduce: return {bytes, bytes, 2 * (parts - 1) * bytes};
    case CollectiveOp::AllToAll: {
      auto const members = share * static_cast<double>(collective.among.size());
      return {members * others * bytes, members * others * bytes, parts * members * others * bytes};
    }
  }
  return {};
}

class Cuts {
 public:
  void offer(double bytes, double rate, std::string name) {
    if (!(rate > 0) || bytes / rate <= bound_.makespan.value()) return;
    bound_ = {Seconds(bytes / rate), {{std::move(name), 1.0}}};
  }
  void offer(Traffic const& traffic, Ports const& ports, std::string const& name) {
    if (!ports.known) return;
    offer(traffic.out, ports.out, "out of " + name);
    offer(traffic.in, ports.in, "into " + name);
  }
  [[nodiscard]] LowerBound const& best() const { return bound_; }

 private:
  LowerBound bound_;
};

}  // namespace

std::optional<LowerBound> collective_bound(Collective const& collective, Model const& model) {
  auto const& machine = model.machine();
  auto const n = static_cast<double>(collective.among.size());
  Cuts cuts;
  Ports all;
  for (std::size_t i = 0; i < collective.among.size(); ++i) {
    auto const gpu = gpu_at(machine, collective.among[i]);
    if (!gpu) return std::nullopt;
    auto const ports = ports_of(model, *gpu);
    all.known = all.known && ports.known;
    all.out += ports.out;
    all.in += ports.in;
    cuts.offer(traffic_of(collective, 1 / n, n, i == collective.root), ports, machine.at(*gpu).name);
  }
  if (all.known) cuts.offer(traffic_of(collective, 1 / n, n, false).all, std::min(all.out, all.in), "all GPUs' ports");
  std::map<HostId, std::size_t> members;
  for (auto const& place : collective.among) ++members[machine.host_of(place)];
  if (members.size() > 1) {
    Ports nics;
    auto const hosts = static_cast<double>(members.size());
    bool even = true;
    for (auto const& [host, count] : members) {
      auto const ports = ports_of(model, host);
      nics.known = nics.known && ports.known;
      nics.out += ports.out;
      nics.in += ports.in;
      even = even && count == members.begin()->second;
      bool const has_root = machine.host_of(collective.among[collective.root]) == host;
      cuts.offer(traffic_of(collective, static_cast<double>(count) / n, hosts, has_root), ports,
                 machine.at(host).name + "'s NICs");
    }
    if (nics.known && even)
      cuts.offer(traffic_of(collective, 1 / hosts, hosts, false).all, std::min(nics.out, nics.in), "all NICs");
  }
  return cuts.best().binding.empty() ? std::nullopt : std::optional(cuts.best());
}

}  // namespace lanewise
