#include "core/planner/libraries/steps/link_shares.hpp"

#include <algorithm>
#include <numeric>

namespace lanewise {

double passes_of(CollectiveOp op, std::size_t ranks) {
  auto const n = static_cast<double>(ranks);
  switch (op) {
    case CollectiveOp::AllReduce: return 2 * (n - 1) / n;
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter:
    case CollectiveOp::Gather:
    case CollectiveOp::Scatter:
    case CollectiveOp::AllToAll: return (n - 1) / n;
    case CollectiveOp::Reduce:
    case CollectiveOp::Broadcast: return 1;
    default: return 0;
  }
}

double send_efficiency(std::size_t ranks) {
  constexpr double kLossOfAPeer = 0.0195;
  constexpr std::size_t kMaxPeers = 7;
  return 1 / (1 + kLossOfAPeer * static_cast<double>(std::min(ranks - 1, kMaxPeers)));
}

std::vector<std::vector<std::size_t>> disjoint_paths(std::size_t count) {
  if (count % 2 != 0) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return {all};
  }
  std::vector<std::vector<std::size_t>> paths(count);
  for (std::size_t first = 0; first < count; ++first)
    for (std::size_t i = 0; i < count; ++i) {
      auto const away = (i + 1) / 2;
      paths[first].push_back((first + (i % 2 == 1 ? away : count - away)) % count);
    }
  return paths;
}

}  // namespace lanewise
