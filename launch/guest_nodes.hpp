#pragma once
// Nodes that are virtual machines of the emulator.
#include <filesystem>
#include <string>
#include <vector>

#include "lanewise/machine/machine.hpp"
#include "launch/node_run.hpp"

namespace lanewise::launch {

// Runs `program` by mpirun in one virtual machine for each host of `cluster`, and all of it once more where QEMU
// crashes, with a warning and `writable` emptied. The guests may write to the folder `writable`. Throws MissingError
// when this build has no emulator, or when this system lacks what it needs, and Interrupted when a signal asked this
// process to end.
NodeRun run_on_guests(Machine const& cluster, std::filesystem::path const& writable,
                      std::vector<std::string> const& program);

}  // namespace lanewise::launch
