#pragma once
// Ways of bytes between two places with nothing between: what bounds and trees are made of.
#include <vector>

#include "core/planner/planner.hpp"

namespace lanewise {

// Those that are legal and of known cost.
inline std::vector<Judged> direct_ways(Planner const& planner, Request const& request) {
  auto ways = planner.choose(request).judged;
  std::erase_if(ways, [](Judged const& judged) {
    bool const direct = judged.way.mechanism == Mechanism::Nvlink || judged.way.mechanism == Mechanism::PcieP2p ||
                        judged.way.mechanism == Mechanism::HostDma;
    return !direct || judged.refused_by != nullptr || !judged.cost;
  });
  return ways;
}

}  // namespace lanewise
