#pragma once
#include "emulator/guest_config.hpp"

namespace lanewise::emulator::guest {

// Runs the command of the configuration with its output and errors sent to the two descriptors. Returns its exit code,
// 128 plus the signal's number when a signal ended it, or 127 when there is no such program.
int run_command(GuestConfig const& config, int output, int errors);

// Runs a shell command to its end and returns its exit code.
int run_shell(std::string const& command);

}  // namespace lanewise::emulator::guest
