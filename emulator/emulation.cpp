#include "emulator/emulation.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>

#include "core/io/error.hpp"
#include "emulator/frame_switch.hpp"
#include "emulator/initramfs.hpp"
#include "emulator/ssh.hpp"
#include "process/file_content.hpp"
#include "process/process.hpp"

namespace lanewise::emulator {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kRolesFile[] = "/run/lanewise/roles.yaml";

// Signals that ask this process to end, read from a descriptor so that the guests can be ended first.
class EndingSignals {
 public:
  EndingSignals() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (auto const signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&wanted, signal);
    sigprocmask(SIG_BLOCK, &wanted, &before_);
    descriptor_ = Descriptor(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  EndingSignals(EndingSignals const&) = delete;
  EndingSignals& operator=(EndingSignals const&) = delete;
  ~EndingSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] int take() const {
    signalfd_siginfo info{};
    return read(descriptor_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  sigset_t before_{};
  Descriptor descriptor_;
};

// A running virtual machine and this process's ends of its lines.
struct Node {
  Descriptor control, output, errors, console;
  std::string control_text, console_text;
  std::optional<Child> process;
  bool ready = false;
  bool asked = false;  // to run the command
  NodeOutcome outcome;
};

std::string first_files(GuestConfig const& config, std::vector<Module> const& modules, std::string const& program) {
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

class Emulation {
 public:
  Emulation(EmulationOptions const& options, OutputSink const& sink) : options_(options), sink_(sink) {}

  EmulationOutcome run(std::vector<VirtualMachine> const& machines, std::vector<std::string> const& archives,
                       Qemu const& qemu) {
    start_ = Clock::now();
    auto networks = Networks(machines);
    for (std::size_t i = 0; i < machines.size(); ++i) start(machines[i], archives[i], qemu, networks.ends_of(i));
    wait_until([&] { return all([](Node const& node) { return node.ready; }); }, options_.boot_limit, "booting",
               networks);
    outcome_.ready = Clock::now() - start_;
    if (!ended_) command(networks);
    for (auto& node : nodes_) outcome_.nodes.push_back(node.outcome);
    return std::move(outcome_);
  }

 private:
  void start(VirtualMachine const& machine, std::string const& archive, Qemu const& qemu,
             std::vector<Descriptor> networks) {
    Node node;
    node.outcome.name = machine.name;
    auto const files = memory_file(archive);
    std::vector<std::pair<int, int>> inherited{{files.get(), kFirstFilesDescriptor}};
    std::vector<Descriptor> theirs;
    auto const line = [&](int number) {
      auto [ours, other] = connected_pair();
      inherited.emplace_back(other.get(), number);
      theirs.push_back(std::move(other));
      return std::move(ours);
    };
    node.control = line(kControlDescriptor);
    node.output = line(kOutputDescriptor);
    node.errors = line(kErrorDescriptor);
    node.console = line(kConsoleDescriptor);
    auto const said = dup_of(theirs.back());  // QEMU's own messages go where the guest's console goes
    for (std::size_t i = 0; i < networks.size(); ++i)
      inherited.emplace_back(networks[i].get(), kFirstNetworkDescriptor + static_cast<int>(i));
    std::vector<std::string> words{qemu.program.string()};
    words.insert(words.end(), machine.arguments.begin(), machine.arguments.end());
    node.process.emplace(words, inherited, said.get(), said.get());
    nodes_.push_back(std::move(node));
  }

  static Descriptor dup_of(Descriptor const& descriptor) { return Descriptor(dup(descriptor.get())); }

  void command(Networks& networks) {
    for (auto const i : options_.run_on) {
      nodes_[i].asked = true;
      constexpr std::string_view kRun = "run\n";
      if (write(nodes_[i].control.get(), kRun.data(), kRun.size()) != static_cast<ssize_t>(kRun.size()))
        return end(kMachineFailed, fmt::format("{} does not listen any more", nodes_[i].outcome.name));
    }
    auto const began = Clock::now();
    wait_until([&] { return all([](Node const& node) { return !node.asked || node.outcome.exit_code; }); },
               options_.limit, "running the command", networks);
    outcome_.command = Clock::now() - began;
    for (auto& node : nodes_) drain(node);
    if (ended_) return;
    for (auto const& node : nodes_)
      if (outcome_.exit_code == 0) outcome_.exit_code = node.outcome.exit_code.value_or(0);
  }

  template <class Condition>
  [[nodiscard]] bool all(Condition condition) const {
    return std::all_of(nodes_.begin(), nodes_.end(), condition);
  }

  void end(int code, std::string why) {
    ended_ = true;
    outcome_.exit_code = code;
    outcome_.failure = std::move(why);
  }

  template <class Condition>
  void wait_until(Condition reached, std::chrono::seconds limit, std::string_view what, Networks& networks) {
    auto const deadline = Clock::now() + limit;
    while (!ended_ && !reached()) {
      auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) return time_is_up(limit, what);
      look(static_cast<int>(left), networks);
    }
  }

  void time_is_up(std::chrono::seconds limit, std::string_view what) {
    auto text = fmt::format("{} took longer than {} s", what, limit.count());
    for (auto const& node : nodes_)
      if (!node.ready) text += fmt::format("; {} is not ready{}", node.outcome.name, last_lines(node.console_text));
    end(kTimedOut, text);
  }

  // Waits for whatever comes first, and deals with it.
  void look(int milliseconds, Networks& networks) {
    std::vector<pollfd> waiting{{signals_.descriptor(), POLLIN, 0}};
    for (auto const& node : nodes_)
      for (auto const* line : {&node.control, &node.output, &node.errors, &node.console})
        waiting.push_back({line->get(), POLLIN, 0});  // a closed one is -1, which poll passes over
    auto const first_cable = waiting.size();
    networks.wait_for(waiting);
    if (poll(waiting.data(), waiting.size(), milliseconds) <= 0) return;
    if (waiting[0].revents != 0) return interrupted();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      auto const* of = &waiting[1 + i * 4];
      // Output before control: what a command printed comes before the news of its end.
      if (of[1].revents != 0) pass_on(i, nodes_[i].output, false);
      if (of[2].revents != 0) pass_on(i, nodes_[i].errors, true);
      if (of[3].revents != 0) listen(nodes_[i]);
      if (of[0].revents != 0) obey(nodes_[i]);
    }
    networks.carry({waiting.begin() + static_cast<std::ptrdiff_t>(first_cable), waiting.end()});
  }

  void interrupted() {
    auto const signal = signals_.take();
    end(kSignalled + signal, fmt::format("ended by {}", strsignal(signal)));
  }

  // What came over a line; closes it at its end.
  static std::string take(Descriptor& line) {
    std::array<char, 65536> chunk{};
    auto const count = read(line.get(), chunk.data(), chunk.size());
    if (count > 0) return {chunk.data(), static_cast<std::size_t>(count)};
    line.reset();
    return {};
  }

  void pass_on(std::size_t i, Descriptor& line, bool is_error) {
    if (auto const text = take(line); !text.empty()) sink_(i, is_error, text);
  }

  // After the end of the command: what is still on its way.
  void drain(Node& node) {
    auto const i = static_cast<std::size_t>(&node - nodes_.data());
    for (auto [line, is_error] : {std::pair{&node.output, false}, std::pair{&node.errors, true}}) {
      pollfd waiting{line->get(), POLLIN, 0};
      while (line->is_open() && poll(&waiting, 1, 0) > 0) pass_on(i, *line, is_error);
    }
  }

  static void listen(Node& node) {
    constexpr std::size_t kMost = 32768;
    node.console_text += take(node.console);
    if (node.console_text.size() > kMost) node.console_text.erase(0, node.console_text.size() - kMost / 2);
  }

  static void tail(Node& node) {
    constexpr int kMoment = 200;  // ms
    pollfd waiting{node.console.get(), POLLIN, 0};
    while (node.console.is_open() && poll(&waiting, 1, kMoment) > 0) listen(node);
  }

  void obey(Node& node) {
    auto const text = take(node.control);
    if (text.empty()) {
      tail(node);
      return end(kMachineFailed,
                 fmt::format("the virtual machine {} ended{}", node.outcome.name, last_lines(node.console_text)));
    }
    node.control_text += text;
    for (auto at = node.control_text.find('\n'); at != std::string::npos; at = node.control_text.find('\n')) {
      auto const line = node.control_text.substr(0, at);
      node.control_text.erase(0, at + 1);
      heard(node, line);
    }
  }

  void heard(Node& node, std::string const& line) {
    auto const rest = line.substr(std::min(line.size(), line.find(' ') + 1));
    if (line == "ready") node.ready = true;
    if (line.starts_with("note ")) node.outcome.notes.push_back(rest);
    if (line.starts_with("exit ")) node.outcome.exit_code = std::stoi(rest);
    if (line.starts_with("failed ")) end(kMachineFailed, fmt::format("{}: {}", node.outcome.name, rest));
  }

  static std::string last_lines(std::string const& text) {
    constexpr int kLines = 20;
    auto from = text.size();
    for (int i = 0; i <= kLines && from != 0 && from != std::string::npos; ++i) from = text.rfind('\n', from - 1);
    auto const tail = from == std::string::npos || from == 0 ? text : text.substr(from + 1);
    return tail.empty() ? "" : "; its last words:\n" + tail;
  }

  EmulationOptions const& options_;
  OutputSink const& sink_;
  EndingSignals signals_;
  std::vector<Node> nodes_;
  EmulationOutcome outcome_;
  bool ended_ = false;
  Clock::time_point start_;
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
  // What speaks of the host's session and means nothing in the guest.
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
  std::vector<HostId> hosts;
  for (int i = 0; i < wanted; ++i) hosts.push_back(HostId(there > 1 ? i : 0));
  return hosts;
}

std::vector<VirtualMachine> virtual_machines(Machine const& machine, std::vector<HostId> const& hosts,
                                             EmulationOptions const& options, Qemu const& qemu, Kernel const& kernel) {
  VirtualMachineOptions of;
  of.accelerator = options.accelerator;
  of.newest_link = qemu.newest_link;
  of.memory = options.memory;
  of.kernel = kernel.image;
  of.nodes = static_cast<int>(hosts.size());
  for (auto const& folder : options.writable)
    of.shares.push_back({fmt::format("share{}", of.shares.size()), folder, true});
  std::vector<VirtualMachine> machines;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    of.node = static_cast<int>(i);
    machines.push_back(virtual_machine(machine, hosts[i], of));
  }
  return machines;
}

EmulationOutcome run_in_guests(std::vector<VirtualMachine> machines, EmulationOptions const& options, Qemu const& qemu,
                               Kernel const& kernel, OutputSink const& sink) {
  // rxe asks the kernel for "crc32" for every packet. The processor's own multiplication is the fastest way to it, but
  // not when that is emulated: then rxe moves less than half as much.
  std::vector<std::string> optional{"crc32_generic", "virtio_rng"};
  if (options.accelerator == Accelerator::Kvm) optional.emplace_back("crc32_pclmul");
  auto const modules = load_order(kernel,
                                  {"virtio_pci", "virtio_console", "9p", "9pnet_virtio", "overlay", "virtio_net",
                                   "nvme", "rdma_rxe", "ib_uverbs", "rdma_ucm"},
                                  optional);
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
    guest.files.push_back({kRolesFile, write_roles(machine.roles), 0644});
    guest.files.push_back({"/etc/hosts", hosts_file(guest), 0644});
    guest.files.push_back({"/etc/passwd", users, 0644});
    guest.files.push_back({std::string(kGuestHome) + "/.hushlogin", "", 0644});
    guest.files.insert(guest.files.end(), options.files.begin(), options.files.end());
    if (ssh) ssh->add_to(guest);
    archives.push_back(first_files(guest, modules, program));
  }
  return Emulation(options, sink).run(machines, archives, qemu);
}

}  // namespace lanewise::emulator
