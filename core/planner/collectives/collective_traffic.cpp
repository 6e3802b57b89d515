#include "core/planner/collectives/collective_traffic.hpp"

#include <algorithm>

#include "core/machine/nvlink_domains.hpp"

namespace lanewise {
namespace {

// Of an all_to_all_v: the entries of its size matrix that cross the group's boundary.
Traffic uneven_traffic(Collective const& collective, Membership const& member) {
  Traffic traffic;
  for (std::size_t i = 0; i < member.size(); ++i)
    for (std::size_t j = 0; j < member.size(); ++j) {
      if (member[i] == member[j]) continue;
      (member[i] ? traffic.out : traffic.in) += static_cast<double>(collective.sizes[i][j].value());
    }
  return traffic;
}

}  // namespace

Traffic min_traffic(Collective const& collective, Membership const& member, double groups) {
  auto const bytes = static_cast<double>(collective.bytes.value());
  auto const members = static_cast<double>(std::count(member.begin(), member.end(), true));
  auto const share = members / static_cast<double>(member.size());
  auto const others = 1 - share;
  bool const has_root = member[collective.root];
  switch (collective.op) {
    case CollectiveOp::Broadcast: return {has_root ? bytes : 0, has_root ? 0 : bytes, (groups - 1) * bytes};
    case CollectiveOp::Reduce: return {has_root ? 0 : bytes, has_root ? bytes : 0, (groups - 1) * bytes};
    case CollectiveOp::Scatter: return {has_root ? others * bytes : 0, has_root ? 0 : share * bytes, 0};
    case CollectiveOp::Gather: return {has_root ? 0 : share * bytes, has_root ? others * bytes : 0, 0};
    case CollectiveOp::AllGather: return {share * bytes, others * bytes, (groups - 1) * bytes};
    // For each element, every group but the one that gets the sum must send a contribution.
    case CollectiveOp::ReduceScatter: return {others * bytes, share * bytes, (groups - 1) * bytes};
    // For each element, every group must contribute and receive the sum.
    case CollectiveOp::AllReduce: return {bytes, bytes, 2 * (groups - 1) * bytes};
    case CollectiveOp::AllToAll:
      return {members * others * bytes, members * others * bytes, groups * members * others * bytes};
    case CollectiveOp::AllToAllV: return uneven_traffic(collective, member);
    // Everyone but the last sends, everyone but the first receives.
    case CollectiveOp::Chain: return {member.back() ? 0 : bytes, member.front() ? 0 : bytes, (groups - 1) * bytes};
  }
  return {};
}

std::map<HostId, Membership> members_by_node(Collective const& collective, Machine const& machine) {
  std::map<HostId, Membership> nodes;
  auto const first = first_nodes_of_domains(machine);
  for (std::size_t i = 0; i < collective.among.size(); ++i) {
    auto& members = nodes[first[index(machine.host_of(collective.among[i]))]];
    members.resize(collective.among.size(), false);
    members[i] = true;
  }
  return nodes;
}

}  // namespace lanewise
