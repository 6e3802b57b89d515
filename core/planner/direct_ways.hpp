#pragma once
#include <vector>

#include "lanewise/planner/planner.hpp"

namespace lanewise {

// Whether the bytes go from source to target without being stored in between.
inline bool is_direct(Way const& way) {
  return way.mechanism == Mechanism::Nvlink || way.mechanism == Mechanism::PcieP2p ||
         way.mechanism == Mechanism::HostDma;
}

// The direct ways of a request that are legal and of known cost.
inline std::vector<EvaluatedWay> direct_ways(Planner const& planner, Request const& request) {
  auto ways = planner.choose(request).evaluated;
  std::erase_if(ways, [](EvaluatedWay const& evaluated) {
    return !is_direct(evaluated.way) || evaluated.refused_by != nullptr || !evaluated.cost;
  });
  return ways;
}

}  // namespace lanewise
