#pragma once
// Ways of bytes between two places with nothing between: what bounds and trees are made of.
#include <vector>

#include "core/planner/planner.hpp"

namespace lanewise {

inline bool is_direct(Way const& way) {
  return way.mechanism == Mechanism::Nvlink || way.mechanism == Mechanism::PcieP2p ||
         way.mechanism == Mechanism::HostDma;
}

// Those that are legal and of known cost.
inline std::vector<EvaluatedWay> direct_ways(Planner const& planner, Request const& request) {
  auto ways = planner.choose(request).evaluated;
  std::erase_if(ways, [](EvaluatedWay const& judged) {
    return !is_direct(judged.way) || judged.refused_by != nullptr || !judged.cost;
  });
  return ways;
}

}  // namespace lanewise
