#pragma once
// Boots the virtual machines of a machine or cluster, runs a command in them and ends them. Everything is gone when
// run_in_guests returns or throws, and also when this process is killed; every wait has an end.
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.hpp"
#include "emulator/kernel.hpp"
#include "emulator/qemu.hpp"
#include "emulator/virtual_machine.hpp"

namespace lanewise::emulator {

// Exit codes of the emulator itself, as timeout(1) and shells have them.
inline constexpr int kTimedOut = 124, kMachineFailed = 125, kSignalled = 128;

struct EmulationOptions {
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::string working_folder = "/";
  std::filesystem::path guest_program;               // lanewise-guest
  std::vector<GuestFile> files = {};                 // that the guests have besides the host's
  std::vector<std::filesystem::path> writable = {};  // folders of the host that the guests may write to
  std::vector<std::size_t> run_on = {0};             // nodes that run the command
  Accelerator accelerator = Accelerator::Emulation;
  Bytes memory{std::int64_t{1} << 30};  // of each guest
  std::chrono::seconds boot_limit{120};
  std::chrono::seconds limit{600};  // for the command
};

struct NodeOutcome {
  std::string name;
  std::optional<int> exit_code;    // absent: it was not asked to run anything, or did not come to its end
  std::vector<std::string> notes;  // what the guest could not be given
};

struct EmulationOutcome {
  int exit_code = 0;                        // the first of the nodes' that is not 0
  std::string failure;                      // why a machine failed or the time was up; empty otherwise
  std::chrono::duration<double> ready{};    // from the start until every node was ready
  std::chrono::duration<double> command{};  // from then until the command had ended everywhere
  std::vector<NodeOutcome> nodes;
};

// What a command prints, as it comes.
using OutputSink = std::function<void(std::size_t node, bool is_error, std::string_view text)>;

// Every host of a machine or the first `nodes` of a cluster; of a single machine as many as wanted. Throws InputError
// when the cluster has fewer, or it is more than kMaxNodes.
std::vector<HostId> hosts_of(Machine const& machine, std::optional<int> nodes);

// The virtual machines, as run_in_guests boots them.
std::vector<VirtualMachine> virtual_machines(Machine const& machine, std::vector<HostId> const& hosts,
                                             EmulationOptions const& options, Qemu const& qemu, Kernel const& kernel);

EmulationOutcome run_in_guests(std::vector<VirtualMachine> machines, EmulationOptions const& options, Qemu const& qemu,
                               Kernel const& kernel, OutputSink const& sink);

}  // namespace lanewise::emulator
