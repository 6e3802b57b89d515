#pragma once
#include <string>

#include "lanewise/plan/plan.hpp"
#include "lanewise/plan/trace.hpp"

namespace lanewise {

// Why this plan's times on hardware are reported but not judged; empty if they are judged. Soft-RoCE does the NIC's
// work on the host's CPU, often an emulated one, at a speed that nobody publishes. A run shows whether the data are
// right, but its times say nothing about the described machine.
std::string timing_exclusion(Plan const& plan, Machine const& machine);

// The same of a run whose nodes were started for it or shared a host, so that their network was not the described one,
// or whose drives cuFile did not move directly.
std::string timing_exclusion(Trace const& trace);

// Whether all NICs on the cluster's fabric are Soft-RoCE. Any hosts or virtual machines can then be its nodes.
bool is_soft_cluster(Machine const& machine);
// Whether all that crosses the cluster's network goes as messages of MPI. Processes of any hosts can then be its nodes,
// as far as they have its GPUs.
bool is_message_cluster(Machine const& machine);

}  // namespace lanewise
