#include "launch/guests.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "core/io/error.hpp"
#include "emulator/kernel_image.hpp"
#include "process/this_program.hpp"

namespace lanewise::launch {
namespace {

namespace fs = std::filesystem;
namespace emu = lanewise::emulator;

// lanewise-guest: in the folder of helper programs when installed, beside this program in a build folder.
fs::path guest_program() {
  auto const folder = this_program().parent_path();
  auto const installed = (folder / LANEWISE_INSTALLED_GUEST).lexically_normal();
  return fs::exists(installed) ? installed : folder / "lanewise-guest";
}

// This program's folder comes first in PATH, so that `-- lanewise ...` runs the same build inside.
std::vector<std::string> environment() {
  std::vector<std::string> variables;
  auto path = this_program().parent_path().string();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    std::string const text = *variable;
    if (text.starts_with("PATH="))
      path += ":" + text.substr(5);
    else
      variables.push_back(text);
  }
  variables.push_back("PATH=" + path);
  return variables;
}

}  // namespace

emu::EmulationOptions guest_options(std::vector<std::string> command) {
  emu::EmulationOptions options;
  options.command = std::move(command);
  options.environment = environment();
  options.working_folder = fs::current_path();
  options.guest_program = guest_program();
  // ssh and mpirun start programs on other nodes with the system's PATH, so `lanewise` must be there.
  options.files.push_back(
      {"/usr/local/bin/lanewise", fmt::format("#!/bin/sh\nexec '{}' \"$@\"\n", this_program().string()), 0755});
  return options;
}

Emulator find_emulator(std::string const& accelerator, std::function<void(std::string const&)> const& progress) {
  Emulator found{emu::find_qemu(), emu::find_kernel(progress)};
  found.kernel.image = emu::quickest_image(found.kernel);
  if (accelerator == "tcg") return found;
  auto const runs = emu::kvm_runs(found.qemu, found.kernel, guest_program());
  if (accelerator == "kvm" && !runs)
    throw MissingError("KVM does not run guests here; leave --accel out to go without");
  if (runs) found.accelerator = emu::Accelerator::Kvm;
  return found;
}

}  // namespace lanewise::launch
