#pragma once
// What every command that boots virtual machines shares: guests that run this build, and the fastest accelerator.
#include <functional>
#include <string>
#include <vector>

#include "emulator/emulation.hpp"

namespace lanewise::launch {

// Options for guests that run `command` in this process's working folder and environment, with the folder of this
// program first in PATH.
emulator::EmulationOptions guest_options(std::vector<std::string> command);

// What guests run on: QEMU, the kernel image that boots fastest, and the accelerator.
struct Emulator {
  emulator::Qemu qemu;
  emulator::Kernel kernel;
  emulator::Accelerator accelerator = emulator::Accelerator::Emulation;
};
// `accelerator`: "tcg", "kvm", or "auto" for KVM where it really runs. `progress` is told of downloads. Throws
// MissingError saying what to install.
Emulator find_emulator(std::string const& accelerator, std::function<void(std::string const&)> const& progress);

}  // namespace lanewise::launch
