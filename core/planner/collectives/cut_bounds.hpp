#pragma once
// Lower bounds on a collective in closed form: across every cut between some participants and the rest, so many bytes
// must leave and enter over links of known capacity, whatever the algorithm.
#include <optional>
#include <string>
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise {

// The time that the bytes crossing one cut take at least.
struct CutBound {
  std::string name;  // "out of gpu0", "all NICs"
  Seconds time{0};
  std::optional<std::size_t> participant = {};  // whose ports are cut; absent for the ports of several together
};

// The cuts around each participant, each node's NICs, each NVLink island, and around all of them together. Empty if a
// participant is no GPU; a cut whose capacity is unknown is left out.
std::vector<CutBound> cut_bounds(Collective const& collective, Model const& model);

}  // namespace lanewise
