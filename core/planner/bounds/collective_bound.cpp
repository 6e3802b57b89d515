#include "core/planner/bounds/collective_bound.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/planner/bound_limits.hpp"
#include "core/planner/bounds/ingress_bound.hpp"
#include "core/planner/bounds/packing_bound.hpp"
#include "core/planner/collectives/algorithms/rings.hpp"
#include "core/planner/collectives/collective_traffic.hpp"
#include "core/planner/collectives/cut_bounds.hpp"
#include "core/planner/transfer_options.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {
namespace {

// Between two participants nobody stands in between: what each must send the other is a transfer, by any way, engines
// and kernels.
std::optional<LowerBound> bound_of_two(Collective const& collective, Model const& model) {
  Planner const planner(model);
  std::vector<OpenTransfer> transfers;
  for (std::size_t i = 0; i < 2; ++i) {
    auto const sent = min_traffic(collective, {i == 0, i == 1}, 2).out;
    auto const& from = collective.among[i];
    auto const& to = collective.among[1 - i];
    OpenTransfer transfer{model.machine().name_of(from), from, to, Bytes(static_cast<std::int64_t>(sent)), {}, {}, {}};
    if (transfer.bytes == Bytes(0)) continue;
    for (auto const op : {Op::Copy, Op::Write, Op::Read}) {
      auto const choice =
          planner.choose({.id = transfer.id, .from = from, .to = to, .bytes = transfer.bytes, .op = op});
      for (auto const& evaluated : choice.evaluated)
        if (evaluated.refused_by == nullptr && evaluated.cost)
          transfer.options.push_back(transfer_option_of(model, transfer, evaluated.way, op, transfer.options.size()));
    }
    transfers.push_back(std::move(transfer));
  }
  return lower_bound(transfers, model);
}

// The participants, then everything else in their node that could forward data: other GPUs and host memories.
Sites sites_of_node(Collective const& collective, Model const& model) {
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

bool is_on_one_node(Collective const& collective, Machine const& machine) {
  auto const host = machine.host_of(collective.among.front());
  return std::all_of(collective.among.begin(), collective.among.end(),
                     [&](Place const& place) { return machine.host_of(place) == host; });
}

// Whether every algorithm uses whole ways of transfers between the two participants: not where packed trees may stage
// data piece by piece, or pieces of one chain go the same staged way at once (101 KiB in two pieces took 19.718 us,
// whole 19.722; found by fuzzing).
bool is_bound_by_transfers(Collective const& collective, Machine const& machine) {
  if (collective.among.size() != 2) return false;
  bool const has_pieces = collective.op == CollectiveOp::AllGather || collective.op == CollectiveOp::Broadcast ||
                          collective.op == CollectiveOp::Reduce;
  return !has_pieces || !is_on_one_node(collective, machine);
}

// Groups of participants that are closer to one another than to the rest: each by itself, NVLink islands, those of a
// NUMA node, those below a PCIe function. Data that circulate within a group must have entered it.
std::set<Membership> close_groups(Collective const& collective, Machine const& machine) {
  auto const n = collective.among.size();
  std::set<Membership> groups;
  auto const add = [&](auto const& is_member) {
    Membership group(n);
    for (std::size_t i = 0; i < n; ++i) group[i] = is_member(i);
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

// The host memory that is nearest to all members and to no other participant.
std::optional<NumaId> memory_of_group(Membership const& members, Collective const& collective, Machine const& machine) {
  std::set<NumaId> inside;
  std::set<NumaId> outside;
  for (std::size_t i = 0; i < members.size(); ++i)
    (members[i] ? inside : outside).insert(machine.numa_of(std::get<PciId>(collective.among[i])));
  if (inside.size() != 1 || outside.contains(*inside.begin())) return std::nullopt;
  return *inside.begin();
}

// By linear programs, among few participants of one node.
std::optional<LowerBound> bound_of_node(Collective const& collective, Model const& model) {
  auto const n = collective.among.size();
  if (n > kBoundLimits.groups_max_participants || !is_on_one_node(collective, model.machine())) return std::nullopt;
  std::vector<RequiredTraffic> traffic;
  for (auto const& members : close_groups(collective, model.machine())) {
    auto const least = min_traffic(collective, members, static_cast<double>(n));
    auto& group = traffic.emplace_back();
    group.out = least.out;
    group.in = least.in;
    for (std::size_t i = 0; i < n; ++i)
      if (members[i]) group.members.push_back(collective.among[i]);
    if (auto const memory = memory_of_group(members, collective, model.machine())) {
      traffic.push_back(group);
      traffic.back().members.emplace_back(*memory);
    }
  }
  return longer(ingress_bound(traffic, model), packing_bound(collective, sites_of_node(collective, model), model));
}

}  // namespace

std::optional<LowerBound> collective_bound(Collective const& collective, Model const& model) {
  bool const on_gpus = std::all_of(collective.among.begin(), collective.among.end(),
                                   [&](Place const& place) { return gpu_at(model.machine(), place).has_value(); });
  std::optional<LowerBound> best;
  if (on_gpus)
    best = is_bound_by_transfers(collective, model.machine()) ? bound_of_two(collective, model)
                                                              : bound_of_node(collective, model);
  for (auto& cut : cut_bounds(collective, model))
    if (!best || cut.time > best->makespan) best = LowerBound{cut.time, {{std::move(cut.name), 1.0}}};
  return best;
}

}  // namespace lanewise
