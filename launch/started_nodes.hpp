#pragma once
// Runs the hardware side of clusters whose nodes any process can be: mpirun starts one for each node. Where NICs are
// Soft-RoCE, on this host if it has RDMA devices, else in the emulator's virtual machines; where messages go by MPI, on
// this host.
#include <filesystem>
#include <string>
#include <vector>

#include "core/verdict/recorded_run.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::launch {

// The scenarios of one cluster.
struct NodeScenarios {
  std::string cluster;  // a name or a file, as --on takes it
  Machine machine;
  std::vector<std::filesystem::path> files;
};

// Where the nodes are: `auto` is this host if it has RDMA devices, else the emulator.
inline constexpr char kNodesAuto[] = "auto", kNodesHere[] = "here", kNodesEmulated[] = "emulator";

// Runs `lanewise check --mode hw` with further `arguments` on the nodes of a soft cluster. Each trace's environment
// says under kNodesEnvironmentKey where the nodes were. Throws MissingError when such nodes cannot be started (no
// mpirun, no RDMA device, no emulator in this build or on this system), and DeviceError with the nodes' output when the
// run fails.
std::vector<RecordedRun> run_on_started_nodes(NodeScenarios const& scenarios, std::string const& where,
                                              std::vector<std::string> const& arguments);

}  // namespace lanewise::launch
