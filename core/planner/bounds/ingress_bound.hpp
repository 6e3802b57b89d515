#pragma once
#include <optional>
#include <vector>

#include "lanewise/planner/bounds/lower_bound.hpp"

namespace lanewise {

// What a group of participants must at least send to the others and receive from them, in bytes. A host memory may be a
// member: data written to it from outside have then arrived.
struct RequiredTraffic {
  std::vector<Place> members;
  double out = 0;
  double in = 0;
};

// A time that no plan beats in which every group receives and sends what it must: a linear program over the bytes on
// every direct leg. Data may come from any GPU, participant or not, and from host memory once they were written there.
// `groups` must contain each participant as a group of its own. Nullopt without a solver, or if a participant cannot be
// reached over ways of known capacity.
std::optional<LowerBound> ingress_bound(std::vector<RequiredTraffic> const& groups, Model const& model);

}  // namespace lanewise
