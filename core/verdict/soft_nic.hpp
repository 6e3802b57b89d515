#pragma once
#include <string>

#include "core/plan/plan.hpp"

namespace lanewise {

// Why times of this plan on hardware are reported and not judged; empty where they are judged. Soft-RoCE does a NIC's
// work on whatever processor there is, often an emulated one, and nobody publishes how fast: what it moves is right or
// wrong, how long that takes says nothing of the machine described.
std::string timing_exclusion(Plan const& plan, Machine const& machine);

// A cluster all of whose NICs on the fabric are Soft-RoCE: any host, or a few virtual machines, can be its nodes.
bool is_soft_cluster(Machine const& machine);

}  // namespace lanewise
