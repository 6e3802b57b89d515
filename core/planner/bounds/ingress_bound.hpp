#pragma once
#include <optional>
#include <vector>

#include "core/planner/bounds/lower_bound.hpp"

namespace lanewise {

// What some participants must send to the others and get from them at least, in bytes. Host memory may be among them:
// what goes into it from outside has then arrived.
struct RequiredTraffic {
  std::vector<Place> of;
  double out = 0;
  double in = 0;
};

// No plan gets all of that to where it must be in less, wherever it comes from: other GPUs, whether they take part or
// not, or host memory, into which somebody wrote it at least once. Each participant is one of `groups` by itself.
// Nullopt without a solver, or where a participant cannot be reached over ways of known capacity.
std::optional<LowerBound> ingress_bound(std::vector<RequiredTraffic> const& groups, Model const& model);

}  // namespace lanewise
