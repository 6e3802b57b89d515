#pragma once
// The hardware side of clusters whose NICs are Soft-RoCE, for which no hardware is needed: a process for each node,
// started by mpirun on this host where it has RDMA devices, else in the emulator's virtual machines.
#include <filesystem>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/verdict/recorded_run.hpp"

namespace lanewise::launch {

// What is to run on one cluster.
struct NodeScenarios {
  std::string cluster;  // as --on takes it
  Machine machine;
  std::vector<std::filesystem::path> files;
};

// Where the nodes are: `auto` is this host if it can, else the emulator.
inline constexpr char kNodesAuto[] = "auto", kNodesHere[] = "here", kNodesEmulated[] = "emulator";

// Runs `lanewise check --mode hw` with further arguments on the nodes of a soft cluster. Where the nodes were is said
// in each trace's environment, under kNodesEnvironmentKey. Throws MissingError when there is no way to have such nodes,
// and DeviceError with what they printed when they fail.
std::vector<RecordedRun> run_on_soft_nodes(NodeScenarios const& scenarios, std::string const& where,
                                           std::vector<std::string> const& arguments);

}  // namespace lanewise::launch
