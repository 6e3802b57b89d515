#include "hw/network/gpu_division.hpp"

#include <fmt/format.h>

#include "lanewise/io/error.hpp"

namespace lanewise::hw {

bool shares_host(std::vector<std::vector<int>> const& ranks, Group const& group) {
  auto const counts = nodes_of_hosts(group.hosts(), ranks);
  auto const here = counts.find(group.hosts()[static_cast<std::size_t>(group.rank())]);
  return here != counts.end() && here->second > 1;
}

std::optional<int> first_gpu_of(NetworkPlan const& plan, std::vector<std::vector<int>> const& ranks, Group const& group,
                                int visible) {
  auto const host_of_node = [&](std::size_t node) {
    return group.hosts()[static_cast<std::size_t>(ranks[node].front())];
  };
  auto const mine = node_of(group.rank(), ranks);
  int before = 0;
  int together = 0;
  std::size_t sharing = 0;
  for (std::size_t node = 0; node < ranks.size(); ++node) {
    if (host_of_node(node) != host_of_node(mine)) continue;
    ++sharing;
    together += plan.gpus[node];
    if (node < mine) before += plan.gpus[node];
  }
  if (sharing == 1 || !plan.uses_gpus[mine]) return std::nullopt;
  if (visible >= together) return before;
  if (visible == plan.gpus[mine]) return 0;
  throw MissingError(
      fmt::format("{} nodes of the plan share this host and have {} GPUs together, and this process sees {}: start the "
                  "processes on "
                  "more hosts",
                  sharing, together, visible));
}

}  // namespace lanewise::hw
