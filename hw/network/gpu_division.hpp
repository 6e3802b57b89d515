#pragma once
// Which GPUs of a host a node has, where several nodes of a plan share the host.
#include <optional>
#include <vector>

#include "hw/network/network_plan.hpp"
#include "hw/nodes/group.hpp"

namespace lanewise::hw {

// The number of the first GPU of this process's node among those that the process sees; nullopt where the node has its
// host for itself, or the plan uses none of its GPUs. Nodes of one host have its GPUs in order, unless each process
// sees only those of its node (CUDA_VISIBLE_DEVICES). `visible`: how many the process sees. Throws MissingError where
// they do not suffice.
std::optional<int> first_gpu_of(NetworkPlan const& plan, std::vector<std::vector<int>> const& ranks, Group const& group,
                                int visible);

// Whether another node has this process's host too.
bool shares_host(std::vector<std::vector<int>> const& ranks, Group const& group);

}  // namespace lanewise::hw
