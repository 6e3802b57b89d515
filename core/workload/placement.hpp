#pragma once
// Which GPU each rank runs on, and which parts of a machine the ranks' groups use.
#include <string>
#include <vector>

#include "core/workload/rank_grid.hpp"
#include "lanewise/machine/machine.hpp"
#include "lanewise/workload/workload.hpp"

namespace lanewise {

struct Placement {
  std::vector<Place> ranks;
  std::vector<Place> decode;  // of kv_transfer: those that receive
};

// The GPUs that the workload names, else the machine's in its own order. Throws InputError where there are fewer than
// ranks, where a name is not there, or where a GPU has two ranks.
Placement place_ranks(Workload const& workload, Machine const& machine);

// How far a group's messages go at most: "NVLink", "switch", "socket", "node", "rack" (a domain over nodes), "rail"
// (the same GPU of every node) or "network".
std::string reach_of(Machine const& machine, std::vector<Place> const& group);

// Of groups that use nothing in common, those of which all others are copies: where no group leaves its node, the
// groups of the first node of each kind and occupation; where none leaves its NVLink domain, those of the fullest
// domain; else all.
std::vector<std::vector<Place>> distinct_groups(Machine const& machine, std::vector<std::vector<Place>> const& groups);

}  // namespace lanewise
