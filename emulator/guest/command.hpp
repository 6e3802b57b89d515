#pragma once
#include "emulator/guest_config.hpp"

namespace lanewise::emulator::guest {

// Descriptors that a command is joined to.
struct CommandLines {
  int output = -1;
  int errors = -1;   // with a terminal everything goes to `output`
  int input = -1;    // read only when the configuration has an input
  int control = -1;  // the emulator says on it how large the terminal is, and where the input ends
};

// Runs the command of the configuration. Returns its exit code, 128 plus the signal's number when a signal ended it, or
// 127 when there is no such program.
int run_command(GuestConfig const& config, CommandLines const& lines);

// Runs a shell command to its end and returns its exit code.
int run_shell(std::string const& command);

}  // namespace lanewise::emulator::guest
