#pragma once
// What every command that boots virtual machines shares: guests that run this build, and the fastest accelerator.
#include <filesystem>
#include <functional>
#include <optional>
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
// What a user asks for.
struct EmulatorChoice {
  std::string accelerator = "auto";              // "tcg", "kvm", or "auto" for KVM where it really runs
  std::optional<std::filesystem::path> kernel;   // an image; else this distribution's kernel
  std::optional<std::filesystem::path> modules;  // of that image
};
// `progress` is told of downloads, and of what a kernel of the user's lacks. Throws MissingError saying what to
// install, InputError when the user's kernel is not there.
Emulator find_emulator(EmulatorChoice const& choice, std::function<void(std::string const&)> const& progress);

}  // namespace lanewise::launch
