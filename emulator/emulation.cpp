#include "emulator/emulation.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "emulator/initramfs.hpp"
#include "emulator/keyboard.hpp"
#include "emulator/networks.hpp"
#include "emulator/running_machine.hpp"
#include "emulator/ssh.hpp"
#include "emulator/termination_signals.hpp"
#include "lanewise/io/error.hpp"
#include "process/file_content.hpp"

namespace lanewise::emulator {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kRolesFile[] = "/run/lanewise/roles.yaml";

std::string make_initramfs(GuestConfig const& config, std::vector<Module> const& modules, std::string const& program) {
  Initramfs files;
  for (auto const* folder : {"dev", "proc", "sys", "modules"}) files.folder(folder);
  files.file("init", program, 0755);
  for (auto const& module : modules)
    files.file(std::string(kModuleFolder).substr(1) + "/" + module.name, module.content, 0644);
  files.file(std::string(kConfigFile).substr(1), to_text(config), 0600);
  return files.finish();
}

std::string needed_content_of(std::filesystem::path const& file) {
  auto content = content_of(file);
  if (content.empty()) throw MissingError(fmt::format("{} is not there: the installation is not whole", file.string()));
  return content;
}

// Runs booted machines until the command has ended, a machine has failed, the time is up or a signal has arrived.
class Emulation {
 public:
  Emulation(EmulationOptions const& options, OutputSink const& sink) : options_(options), sink_(sink) {}

  EmulationOutcome run(std::vector<VirtualMachine> const& machines, std::vector<std::string> const& archives,
                       Qemu const& qemu) {
    auto const start = Clock::now();
    Networks networks(machines);
    for (std::size_t i = 0; i < machines.size(); ++i)
      machines_.emplace_back(machines[i], archives[i], qemu, networks.ends_of(i));
    wait_until([](RunningMachine const& machine) { return machine.is_ready(); }, options_.boot_limit, "booting",
               networks);
    outcome_.ready = Clock::now() - start;
    if (!stopped_) run_command(networks);
    for (auto const& machine : machines_)
      outcome_.nodes.push_back({machine.name(), machine.exit_code(), machine.notes()});
    return std::move(outcome_);
  }

 private:
  void run_command(Networks& networks) {
    outcome_.has_begun = true;
    for (auto const i : options_.run_on)
      if (!machines_[i].start_command())
        return stop(kMachineFailed, fmt::format("{} does not listen any more", machines_[i].name()));
    if (options_.input != GuestInputKind::None) keyboard_.emplace();
    auto const start = Clock::now();
    wait_until([](RunningMachine const& machine) { return !machine.is_running(); }, options_.limit,
               "running the command", networks);
    outcome_.command = Clock::now() - start;
    keyboard_.reset();
    for (std::size_t i = 0; i < machines_.size(); ++i) drain_output(i);
    if (stopped_) return;
    for (auto const& machine : machines_)
      if (outcome_.exit_code == 0) outcome_.exit_code = machine.exit_code().value_or(0);
  }

  void stop(int code, std::string why) {
    stopped_ = true;
    outcome_.exit_code = code;
    outcome_.failure = std::move(why);
  }

  template <class Condition>
  void wait_until(Condition reached, std::chrono::seconds limit, std::string_view what, Networks& networks) {
    auto const deadline = Clock::now() + limit;
    while (!stopped_ && !std::all_of(machines_.begin(), machines_.end(), reached)) {
      auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return on_timeout(limit, what);
      handle_events(static_cast<int>(left), networks);
    }
  }

  void on_timeout(std::chrono::seconds limit, std::string_view what) {
    auto text = fmt::format("{} took longer than {} s", what, limit.count());
    for (auto const& machine : machines_)
      if (!machine.is_ready()) text += fmt::format("; {} is not ready{}", machine.name(), machine.console_tail());
    stop(kTimedOut, text);
  }

  // Waits for the first events and handles them.
  void handle_events(int milliseconds, Networks& networks) {
    // A key is taken when the guest has taken those before it.
    bool const takes_keys = keyboard_ && machines_[options_.run_on.front()].has_given_input();
    std::vector<pollfd> waiting{{signals_.descriptor(), POLLIN, 0},
                                {takes_keys ? keyboard_->descriptor() : -1, POLLIN, 0}};
    auto const first_line = waiting.size();
    for (auto const& machine : machines_) machine.add_descriptors(waiting);
    auto const first_network = waiting.size();
    networks.add_descriptors(waiting);
    constexpr int kLookAtSize = 500;  // ms: how soon the guest hears of another size of the terminal
    if (keyboard_) resize();
    if (poll(waiting.data(), waiting.size(), keyboard_ ? std::min(milliseconds, kLookAtSize) : milliseconds) <= 0)
      return;
    if (waiting[0].revents != 0) return on_signal();
    if (waiting[1].revents != 0) on_keys();
    for (std::size_t i = 0; i < machines_.size(); ++i) {
      auto const* lines = &waiting[first_line + i * RunningMachine::kLines];
      auto const has_event = [&](RunningMachine::Line line) { return lines[line].revents != 0; };
      // Output before control, so that what a command printed comes before its exit code.
      if (has_event(RunningMachine::kOutput)) forward_output(i, RunningMachine::kOutput);
      if (has_event(RunningMachine::kErrors)) forward_output(i, RunningMachine::kErrors);
      if (has_event(RunningMachine::kConsole)) machines_[i].read_console();
      if (has_event(RunningMachine::kInput)) machines_[i].go_on_giving();
      if (!has_event(RunningMachine::kControl)) continue;
      if (auto failure = machines_[i].on_control(); !failure.empty() && !stopped_) {
        stop(kMachineFailed, std::move(failure));
        outcome_.has_crashed = machines_[i].has_crashed();
      }
    }
    networks.forward({waiting.begin() + static_cast<std::ptrdiff_t>(first_network), waiting.end()});
  }

  void resize() {
    if (auto const size = keyboard_->new_size()) machines_[options_.run_on.front()].resize(*size);
  }

  void on_keys() {
    auto& machine = machines_[options_.run_on.front()];
    machine.give_input(keyboard_->take());
    if (keyboard_->descriptor() < 0) machine.end_input();
    if (keyboard_->asked_to_end()) stop(kSignalled + SIGINT, "ended by Ctrl-]");
  }

  void on_signal() {
    auto const signal = signals_.take();
    stop(kSignalled + signal, fmt::format("ended by {}", strsignal(signal)));
  }

  void forward_output(std::size_t i, RunningMachine::Line line) {
    if (auto const text = machines_[i].take(line); !text.empty()) sink_(i, line == RunningMachine::kErrors, text);
  }

  // Forwards what is still on its way after the command has ended.
  void drain_output(std::size_t i) {
    for (auto const line : {RunningMachine::kOutput, RunningMachine::kErrors})
      while (machines_[i].has_data(line)) forward_output(i, line);
  }

  EmulationOptions const& options_;
  OutputSink const& sink_;
  TerminationSignals signals_;
  std::optional<Keyboard> keyboard_;
  std::vector<RunningMachine> machines_;
  EmulationOutcome outcome_;
  bool stopped_ = false;
};

std::string hosts_file(GuestConfig const& config) {
  std::string text = "127.0.0.1 localhost\n";
  for (auto const& host : config.hosts) text += fmt::format("{} {}\n", host.address, host.name);
  return text;
}

std::vector<std::string> guest_environment(std::vector<std::string> const& outside) {
  std::map<std::string, std::string> variables;
  for (auto const& variable : outside)
    if (auto const at = variable.find('='); at != std::string::npos)
      variables[variable.substr(0, at)] = variable.substr(at + 1);
  // Variables of the host's session have no meaning in the guest.
  for (auto const* name : {"TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY",
                           "DBUS_SESSION_BUS_ADDRESS", "MAIL"})
    variables.erase(name);
  variables["HOME"] = kGuestHome;
  variables["USER"] = variables["LOGNAME"] = "root";
  variables["LANEWISE_ROLES"] = kRolesFile;
  // The guest's only user is root.
  variables["OMPI_ALLOW_RUN_AS_ROOT"] = variables["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  std::vector<std::string> found;
  for (auto const& [name, value] : variables) found.push_back(fmt::format("{}={}", name, value));
  return found;
}

}  // namespace

std::vector<HostId> hosts_of(Machine const& machine, std::optional<int> nodes) {
  auto const there = static_cast<int>(machine.hosts.size());
  auto const wanted = nodes.value_or(there);
  if (wanted < 1) throw InputError("--nodes is 1 or more");
  if (wanted > kMaxNodes) throw InputError(fmt::format("{} nodes: the emulator boots at most {}", wanted, kMaxNodes));
  if (there > 1 && wanted > there)
    throw InputError(fmt::format("the cluster '{}' has {} nodes, not {}", machine.name, there, wanted));
  if (wanted > 1 && machine.fabric && machine.fabric->networks.size() > 1)
    throw InputError(
        "the emulator joins the n-th NICs of all nodes: it boots no nodes of clusters with several fabrics");
  std::vector<HostId> hosts;
  for (int i = 0; i < wanted; ++i) hosts.push_back(HostId(there > 1 ? i : 0));
  return hosts;
}

int processors_of(std::vector<VirtualMachine> const& machines) {
  return std::accumulate(machines.begin(), machines.end(), 0,
                         [](int sum, VirtualMachine const& machine) { return sum + machine.processors; });
}

int cores_of_this_process() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? std::max(1, CPU_COUNT(&cores)) : 1;
}

std::chrono::seconds usual_boot_limit(int processors, int cores) {
  constexpr std::chrono::seconds kWithACoreEach{120};
  return kWithACoreEach * std::max(1, (processors + cores - 1) / std::max(1, cores));
}

std::vector<VirtualMachine> virtual_machines(Machine const& machine, std::vector<HostId> const& hosts,
                                             EmulationOptions const& options, Qemu const& qemu, Kernel const& kernel) {
  VirtualMachineOptions node_options;
  node_options.accelerator = options.accelerator;
  node_options.newest_link = qemu.newest_link;
  node_options.memory = options.memory;
  node_options.kernel = kernel.image;
  node_options.nodes = static_cast<int>(hosts.size());
  node_options.kernel_arguments = options.kernel_arguments;
  node_options.qemu_devices = options.qemu_devices;
  for (auto const& folder : options.writable)
    node_options.shares.push_back({fmt::format("share{}", node_options.shares.size()), folder, true});
  std::vector<VirtualMachine> machines;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    node_options.node = static_cast<int>(i);
    node_options.input = i == options.run_on.front() ? options.input : GuestInputKind::None;
    machines.push_back(virtual_machine(machine, hosts[i], node_options));
  }
  return machines;
}

EmulationOutcome run_in_guests(std::vector<VirtualMachine> machines, EmulationOptions const& options, Qemu const& qemu,
                               Kernel const& kernel, OutputSink const& sink) {
  // rxe computes a crc32 of every packet. crc32_pclmul uses the processor's carry-less multiplication, which is fastest
  // on KVM; emulated, it halves rxe's throughput.
  std::vector<std::string> optional{"crc32_generic", "virtio_rng"};
  if (options.accelerator == Accelerator::Kvm) optional.emplace_back("crc32_pclmul");
  auto wanted = needed_modules();
  wanted.insert(wanted.end(), device_modules().begin(), device_modules().end());
  auto const modules = load_order(kernel, wanted, optional);
  auto const program = needed_content_of(options.guest_program);
  auto const users = users_with_home(needed_content_of("/etc/passwd"));
  std::optional<SshAccess> ssh;
  if (machines.size() > 1 && SshAccess::missing().empty()) ssh = SshAccess::make();
  std::vector<std::string> archives;
  for (auto& machine : machines) {
    auto& guest = machine.guest;
    for (auto const& module : modules) guest.modules.push_back(module.name);
    guest.command = options.command;
    guest.environment = guest_environment(options.environment);
    guest.working_folder = options.working_folder;
    guest.rows = terminal_size().rows;
    guest.columns = terminal_size().columns;
    guest.files.push_back(
        {kRolesFile, write_roles({machine.roles, machine.cpus, machine.parts, machine.not_expressed}), 0644});
    guest.files.push_back({"/etc/hosts", hosts_file(guest), 0644});
    guest.files.push_back({"/etc/passwd", users, 0644});
    guest.files.push_back({std::string(kGuestHome) + "/.hushlogin", "", 0644});
    guest.files.insert(guest.files.end(), options.files.begin(), options.files.end());
    if (ssh) ssh->add_to(guest);
    archives.push_back(make_initramfs(guest, modules, program));
  }
  auto outcome = Emulation(options, sink).run(machines, archives, qemu);
  if (outcome.has_crashed && !outcome.has_begun) {
    auto const why = std::move(outcome.failure);
    outcome = Emulation(options, sink).run(machines, archives, qemu);
    outcome.nodes.front().notes.push_back(fmt::format("booted once more: {}", why));
  }
  return outcome;
}

}  // namespace lanewise::emulator
