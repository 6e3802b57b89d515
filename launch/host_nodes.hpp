#pragma once
// Nodes that are processes of this host and share its RDMA devices.
#include <cstddef>
#include <string>
#include <vector>

#include "launch/node_run.hpp"

namespace lanewise::launch {

// Runs `program` in `nodes` processes of this host by mpirun. `devices` are the host's RDMA devices, for the
// description. Throws MissingError when there is no mpirun.
NodeRun run_on_host(std::size_t nodes, std::vector<std::string> const& devices,
                    std::vector<std::string> const& program);

}  // namespace lanewise::launch
