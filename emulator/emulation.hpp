#pragma once
// Boots the virtual machines of a machine or cluster, runs a command in them and ends them. Nothing is left running
// when run_in_guests returns or throws, nor when this process is killed. Every wait has a time limit.
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/kernel.hpp"
#include "emulator/qemu.hpp"
#include "emulator/virtual_machine.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise::emulator {

// Exit codes of the emulator itself, as timeout(1) and shells use them. kSignalled: plus the signal's number.
inline constexpr int kTimedOut = 124, kMachineFailed = 125, kSignalled = 128;

struct EmulationOptions {
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::string working_folder = "/";
  std::filesystem::path guest_program;               // lanewise-guest
  std::vector<GuestFile> files = {};                 // that the guests have in addition to the host's
  std::vector<std::filesystem::path> writable = {};  // folders of the host that the guests may write to
  std::vector<std::size_t> run_on = {0};             // nodes that run the command
  Accelerator accelerator = Accelerator::Emulation;
  Bytes memory{std::int64_t{1} << 30};          // of each guest
  GuestInputKind input = GuestInputKind::None;  // of the command, which then runs on one node
  std::string kernel_arguments = {};            // in addition to those of the machine file
  std::vector<std::string> qemu_devices = {};   // in addition, as QEMU's -device takes them
  std::chrono::seconds boot_limit{120};
  std::chrono::seconds limit{600};  // for the command
};

struct NodeOutcome {
  std::string name;
  std::optional<int> exit_code;    // absent: it did not run the command, or did not end it
  std::vector<std::string> notes;  // what could not be set up in the guest, and why all were booted once more
};

struct EmulationOutcome {
  int exit_code = 0;                        // the first of the nodes' exit codes that is not 0
  std::string failure;                      // why a machine failed, or which time limit was exceeded; else empty
  bool has_crashed = false;                 // whether it failed because QEMU itself did
  bool has_begun = false;                   // whether a node was told to run the command
  std::chrono::duration<double> ready{};    // from the start until every node was ready
  std::chrono::duration<double> command{};  // from then until the command had ended everywhere
  std::vector<NodeOutcome> nodes;
};

// Receives what a command prints, as it comes.
using OutputSink = std::function<void(std::size_t node, bool is_error, std::string_view text)>;

// The hosts to boot: of a cluster the first `nodes` (all by default), of a single machine `nodes` copies (one by
// default). Throws InputError when the cluster has fewer, or when there are more than kMaxNodes.
std::vector<HostId> hosts_of(Machine const& machine, std::optional<int> nodes);

// How long booting may take on this many cores: 120 s where each processor of the guests has a core of its own, else as
// many times that as processors share a core.
std::chrono::seconds usual_boot_limit(int processors, int cores);

// The cores that this process may run on.
int cores_of_this_process();

// The processors of all of them.
int processors_of(std::vector<VirtualMachine> const& machines);

// The virtual machines, as run_in_guests boots them.
std::vector<VirtualMachine> virtual_machines(Machine const& machine, std::vector<HostId> const& hosts,
                                             EmulationOptions const& options, Qemu const& qemu, Kernel const& kernel);

// Boots the machines, runs the command and ends them. Boots them once more where QEMU crashes before the command has
// begun, as QEMU 7.2 may without KVM. Throws MissingError when something that guests need
// is missing here.
EmulationOutcome run_in_guests(std::vector<VirtualMachine> machines, EmulationOptions const& options, Qemu const& qemu,
                               Kernel const& kernel, OutputSink const& sink);

}  // namespace lanewise::emulator
