#pragma once
#include <map>
#include <vector>

#include "lanewise/machine/machine.hpp"
#include "lanewise/plan/collective.hpp"

namespace lanewise {

// Which participants of a collective belong to a group.
using Membership = std::vector<bool>;

// What a group of participants must at least send to and receive from the others, whatever the algorithm, in bytes.
struct Traffic {
  double out = 0;
  double in = 0;
  double all = 0;  // sent by all groups together, if each is like this one; 0 for scatter and gather
};

// `groups`: into how many such groups the participants are divided.
Traffic min_traffic(Collective const& collective, Membership const& member, double groups);

// The participants of each node.
std::map<HostId, Membership> members_by_node(Collective const& collective, Machine const& machine);

}  // namespace lanewise
