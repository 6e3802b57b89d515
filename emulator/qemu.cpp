#include "emulator/qemu.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "emulator/initramfs.hpp"
#include "emulator/virtual_machine.hpp"
#include "lanewise/io/error.hpp"
#include "process/file_content.hpp"
#include "process/process.hpp"

namespace lanewise::emulator {
namespace {

using namespace std::chrono_literals;
constexpr char kProgram[] = "qemu-system-x86_64";

std::string line_of(std::filesystem::path const& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

// Boots a guest without a configuration: its first process then prints an error with its name and ends the machine.
bool guest_boots_with_kvm(Qemu const& qemu, Kernel const& kernel, std::filesystem::path const& guest_program) {
  Initramfs files;
  for (auto const* folder : {"dev", "proc", "sys"}) files.folder(folder);
  files.file("init", content_of(guest_program), 0755);
  auto const archive = memory_file(files.finish());
  auto const outcome = run_program({qemu.program.string(),
                                    "-nodefaults",
                                    "-no-user-config",
                                    "-no-reboot",
                                    "-display",
                                    "none",
                                    "-machine",
                                    "q35",
                                    "-accel",
                                    "kvm",
                                    "-cpu",
                                    "host",
                                    "-smp",
                                    "2",
                                    "-m",
                                    "256",
                                    "-kernel",
                                    kernel.image.string(),
                                    "-initrd",
                                    fmt::format("/proc/self/fd/{}", kInitramfsDescriptor),
                                    "-append",
                                    "console=ttyS0 quiet panic=-1 rdinit=/init",
                                    "-chardev",
                                    "stdio,id=console,signal=off",
                                    "-serial",
                                    "chardev:console"},
                                   8s, {{archive.get(), kInitramfsDescriptor}});
  return outcome.output.find("lanewise-guest:") != std::string::npos;
}

}  // namespace

int newest_link_in(std::string_view help) {
  auto const at = help.find("x-speed=");
  if (at == std::string_view::npos) return 0;
  auto const line = help.substr(at, help.find('\n', at) - at);
  auto const list = line.substr(0, line.find('('));
  // "2_5/5/8/16": one generation more than there are slashes.
  return 1 + static_cast<int>(std::count(list.begin(), list.end(), '/'));
}

Qemu find_qemu() {
  auto const program = find_program(kProgram);
  if (!program)
    throw MissingError(fmt::format(
        "the emulator needs {}: install the package qemu-system-x86 (./setup.sh install emulator)", kProgram));
  auto const help = run_program({program->string(), "-device", "pcie-root-port,help"}, 20s);
  auto const newest = newest_link_in(help.output);
  if (newest == 0)
    throw MissingError(
        fmt::format("{} has no PCIe root ports with a settable link: 7.2 or newer is needed", program->string()));
  return {*program, newest};
}

bool kvm_runs(Qemu const& qemu, Kernel const& kernel, std::filesystem::path const& guest_program) {
  if (access("/dev/kvm", R_OK | W_OK) != 0) return false;
  auto const boot = line_of("/proc/sys/kernel/random/boot_id");
  auto const kept = cache_folder() / "kvm";
  if (auto const line = line_of(kept); line.starts_with(boot + " ")) return line == boot + " runs";
  bool const runs = guest_boots_with_kvm(qemu, kernel, guest_program);
  // A cache that cannot be written costs a trial at each start.
  std::error_code error;
  std::filesystem::create_directories(kept.parent_path(), error);
  auto const unfinished = std::filesystem::path(fmt::format("{}.{}", kept.string(), getpid()));
  std::ofstream(unfinished) << boot << (runs ? " runs\n" : " does not run\n");
  std::filesystem::rename(unfinished, kept, error);
  return runs;
}

}  // namespace lanewise::emulator
