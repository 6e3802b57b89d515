#pragma once
// What every subcommand that boots virtual machines shares: this build inside of them, and the quickest accelerator.
#include <string>
#include <vector>

#include "emulator/emulation.hpp"

namespace lanewise::launch {

// The file of this program.
std::filesystem::path this_program();

// A command that guests run where this program runs, with this program first in PATH.
emulator::EmulationOptions guest_options(std::vector<std::string> command);

// QEMU, the kernel as it boots quickest, and how fast guests can be had. Throws MissingError saying what to install.
struct Emulator {
  emulator::Qemu qemu;
  emulator::Kernel kernel;
  emulator::Accelerator accelerator = emulator::Accelerator::Emulation;
};
// `accelerator`: tcg, kvm, or auto for KVM where it really runs.
Emulator find_emulator(std::string const& accelerator, std::function<void(std::string const&)> const& progress);

}  // namespace lanewise::launch
