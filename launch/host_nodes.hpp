#pragma once
// Nodes that are processes of this host and share its RDMA devices.
#include <cstddef>
#include <string>
#include <vector>

#include "launch/mpirun.hpp"
#include "launch/node_run.hpp"

namespace lanewise::launch {

// Runs `program` in `nodes` processes of this host by mpirun. `devices`: what carries the data, for the description.
// Throws MissingError when there is no mpirun.
NodeRun run_on_host(std::size_t nodes, std::vector<std::string> const& devices, MpiUse use,
                    std::vector<std::string> const& program);

}  // namespace lanewise::launch
