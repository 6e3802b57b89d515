#include "core/planner/collectives/algorithms/participant_layout.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/machine/nvlink_domains.hpp"
#include "core/planner/collective_limits.hpp"
#include "core/planner/collectives/algorithms/rings.hpp"
#include "core/rules/conditions.hpp"
#include "lanewise/planner/planner.hpp"

namespace lanewise {
namespace {

std::vector<NearMemory> near_memories_of(Machine const& machine, Collective const& collective) {
  std::map<NumaId, std::vector<std::size_t>> by_memory;
  for (std::size_t i = 0; i < collective.among.size(); ++i) {
    auto const gpu = gpu_at(machine, collective.among[i]);
    if (!gpu || machine.host_of(*gpu) != machine.host_of(collective.among.front())) return {};
    by_memory[machine.numa_of(*gpu)].push_back(i);
  }
  std::vector<NearMemory> near;
  for (auto& [memory, participants] : by_memory) near.push_back({memory, std::move(participants)});
  return near;
}

// Data of b bytes in c chunks has passed a chain of n - 1 links with latency l and rate r after
// (n - 2 + c) (l + b / (c r)). Returns the c for which that is least, with the first ring's first link as sample.
std::size_t best_pipeline_chunks(Model const& model, Collective const& collective,
                                 std::vector<std::size_t> const& ring) {
  auto const choice = Planner(model).choose(
      {.from = collective.among[ring[0]], .to = collective.among[ring[1]], .bytes = collective.bytes});
  if (!choice.chosen || !choice.evaluated[*choice.chosen].cost) return 1;
  auto const& cost = *choice.evaluated[*choice.chosen].cost;
  auto const flowing = collective.bytes / cost.rate;
  auto const latency = std::max(cost.time - flowing, Seconds(1e-9));
  auto const depth = static_cast<double>(collective.among.size()) - 1;
  return static_cast<std::size_t>(std::clamp(std::sqrt(depth * (flowing / latency)), 1.0,
                                             static_cast<double>(kCollectiveLimits.max_pipeline_chunks)));
}

// The number of each GPU among all GPUs of its node, those that are off too; so those of one number are on one rail.
std::map<PciId, std::size_t> numbers_in_nodes(Machine const& machine) {
  std::map<PciId, std::size_t> numbers;
  std::map<HostId, std::size_t> next;
  for (auto const gpu : machine.all(PciKind::Gpu)) numbers[gpu] = next[machine.host_of(gpu)]++;
  return numbers;
}

void find_common_groups(ParticipantLayout& layout, Machine const& machine, Collective const& collective) {
  auto const& groups = layout.groups;
  auto const is_as_large = [&](auto const& group) { return group.size() == groups.front().size(); };
  if (groups.size() < 2 || std::all_of(groups.begin(), groups.end(), is_as_large)) return;
  auto const numbers = numbers_in_nodes(machine);
  std::map<std::size_t, std::vector<std::size_t>> by_number;  // participants, one of each group at most
  for (auto const& group : groups)
    for (auto const member : group) {
      auto const gpu = gpu_at(machine, collective.among[member]);
      if (!gpu) return;
      by_number[numbers.at(*gpu)].push_back(member);
    }
  std::vector<bool> is_common(collective.among.size(), false);
  std::size_t common = 0;
  for (auto const& [number, members] : by_number) {
    if (members.size() != groups.size()) continue;
    ++common;
    for (auto const member : members) is_common[member] = true;
  }
  if (common < 2) return;
  for (auto const& group : groups) {
    auto& of_all = layout.common_groups.emplace_back();
    auto& rest = layout.other_members.emplace_back();
    for (auto const member : group) (is_common[member] ? of_all : rest).push_back(member);
  }
}

bool are_meshes(std::vector<std::vector<std::size_t>> const& groups, Machine const& machine,
                Collective const& collective) {
  std::map<PciId, std::size_t> group_of;
  std::size_t wanted = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    auto const size = groups[g].size();
    if (size < 3) return false;
    wanted += size * (size - 1) / 2;
    for (auto const member : groups[g])
      if (auto const gpu = gpu_at(machine, collective.among[member])) group_of[*gpu] = g;
  }
  std::set<std::pair<PciId, PciId>> linked;
  for (auto const& bundle : machine.nvlinks) {
    auto const* a = std::get_if<PciId>(&bundle.a);
    auto const* b = std::get_if<PciId>(&bundle.b);
    if (a == nullptr || b == nullptr || bundle.count < 1) continue;
    auto const of_a = group_of.find(*a);
    auto const of_b = group_of.find(*b);
    if (of_a != group_of.end() && of_b != group_of.end() && of_a->second == of_b->second)
      linked.insert(std::minmax(*a, *b));
  }
  return wanted > 0 && linked.size() == wanted;
}

}  // namespace

ParticipantLayout layout_of(Model const& model, Collective const& collective) {
  auto const& machine = model.machine();
  ParticipantLayout layout;
  if (collective.among.size() <= kCollectiveLimits.all_algorithms_max_participants)
    layout.rings = disjoint_rings(machine, collective.among);
  else
    layout.rings = {{}};
  if (layout.rings.front().empty())
    for (std::size_t i = 0; i < collective.among.size(); ++i) layout.rings.front().push_back(i);
  auto const first = first_nodes_of_domains(machine);  // nodes that NVLink joins are as one
  std::map<HostId, std::vector<std::size_t>> hosts;
  for (std::size_t i = 0; i < collective.among.size(); ++i)
    hosts[first[index(machine.host_of(collective.among[i]))]].push_back(i);
  for (auto& [host, members] : hosts) layout.groups.push_back(std::move(members));
  if (layout.groups.size() == 1) layout.groups = nvlink_islands(machine, collective.among);
  layout.groups_are_meshes = are_meshes(layout.groups, machine, collective);
  find_common_groups(layout, machine, collective);
  layout.near_memories = near_memories_of(machine, collective);
  layout.pipeline_chunks = best_pipeline_chunks(model, collective, layout.rings.front());
  return layout;
}

}  // namespace lanewise
