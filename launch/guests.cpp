#include "launch/guests.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "emulator/kernel_image.hpp"
#include "lanewise/io/error.hpp"
#include "process/shell_word.hpp"
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

// Names the modules that a kernel of the user's lacks.
void tell_what_is_missing(emu::Kernel const& kernel, std::function<void(std::string const&)> const& progress) {
  auto const where = kernel.modules.empty()
                         ? fmt::format("there is no lib/modules/{} beside it; name it by --modules", kernel.version)
                         : fmt::format("of {}", kernel.modules.string());
  if (auto const needed = emu::missing_modules(kernel, emu::needed_modules()); !needed.empty())
    progress(fmt::format("Linux {} has no modules {} ({}): guests only start if these are built in", kernel.version,
                         fmt::join(needed, ", "), where));
  if (auto const devices = emu::missing_modules(kernel, emu::device_modules()); !devices.empty())
    progress(fmt::format("Linux {} has no modules {} ({}): without them built in, guests lack these devices",
                         kernel.version, fmt::join(devices, ", "), where));
}

}  // namespace

emu::EmulationOptions guest_options(std::vector<std::string> command) {
  emu::EmulationOptions options;
  options.command = std::move(command);
  options.environment = environment();
  options.working_folder = fs::current_path();
  options.guest_program = guest_program();
  // ssh and mpirun start programs on other nodes with the system's PATH, so `lanewise` must be there.
  options.files.push_back({"/usr/local/bin/lanewise",
                           fmt::format("#!/bin/sh\nexec {} \"$@\"\n", shell_word(this_program().string())), 0755});
  return options;
}

Emulator find_emulator(EmulatorChoice const& choice, std::function<void(std::string const&)> const& progress) {
  if (choice.modules && !choice.kernel) throw InputError("--modules goes with --kernel");
  Emulator found{emu::find_qemu(),
                 choice.kernel ? emu::kernel_from(*choice.kernel, choice.modules) : emu::find_kernel(progress)};
  if (choice.kernel) tell_what_is_missing(found.kernel, progress);
  found.kernel.image = emu::quickest_image(found.kernel);
  if (choice.accelerator == "tcg") return found;
  auto const runs = emu::kvm_runs(found.qemu, found.kernel, guest_program());
  if (choice.accelerator == "kvm" && !runs)
    throw MissingError("KVM does not run guests here; leave --accel out to go without");
  if (runs) found.accelerator = emu::Accelerator::Kvm;
  return found;
}

}  // namespace lanewise::launch
