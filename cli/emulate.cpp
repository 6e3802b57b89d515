#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/session.hpp"
#include "emulator/keyboard.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/units/text.hpp"
#include "launch/guests.hpp"
#include "process/shell_word.hpp"

namespace lanewise::cli {
namespace {

namespace fs = std::filesystem;
namespace emu = lanewise::emulator;
using Json = nlohmann::ordered_json;

struct EmulateOptions {
  std::vector<std::string> command;
  std::optional<int> nodes;
  std::string on = "node0";
  std::string accelerator = "auto";
  std::string memory = "1 GiB";
  std::vector<std::string> writable;
  std::string kernel;
  std::string modules;
  std::vector<std::string> kernel_arguments;
  std::vector<std::string> qemu_devices;
  std::optional<int> boot_limit;
  std::optional<int> limit;
  bool interactive = false;
  bool print = false;
};

std::vector<std::size_t> nodes_named(std::string const& on, std::size_t count) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < count; ++i)
    if (on == "all" || on == fmt::format("node{}", i)) found.push_back(i);
  if (found.empty()) throw InputError(fmt::format("--on {}: there are node0 to node{}, and all", on, count - 1));
  return found;
}

// With -i and no command: a shell.
std::vector<std::string> command_of(EmulateOptions const& given) {
  if (!given.command.empty() || !given.interactive) return given.command;
  return {"/bin/sh", "-c", "if command -v bash >/dev/null; then exec bash; else exec sh; fi"};
}

emu::EmulationOptions emulation_options(EmulateOptions const& given, std::size_t nodes) {
  auto options = launch::guest_options(command_of(given));
  for (auto const& folder : given.writable) {
    if (!fs::is_directory(folder)) throw InputError(fmt::format("--writable {}: there is no such folder", folder));
    options.writable.push_back(fs::canonical(folder));
  }
  options.run_on = nodes_named(given.on, nodes);
  options.memory = argument(parse_bytes(given.memory));
  options.kernel_arguments = fmt::format("{}", fmt::join(given.kernel_arguments, " "));
  options.qemu_devices = given.qemu_devices;
  if (given.interactive) {
    if (options.run_on.size() > 1) throw InputError("-i joins the keyboard with one node; name it by --on");
    options.input = emu::on_terminal() ? emu::GuestInputKind::Terminal : emu::GuestInputKind::Pipe;
  }
  constexpr int kLimit = 600;
  constexpr int kSessionLimit = 30 * 24 * 3600;  // its user ends it
  options.limit = std::chrono::seconds(given.limit.value_or(given.interactive ? kSessionLimit : kLimit));
  return options;
}

// What QEMU does not show of the machine files, each once; not that addresses and software are the guest's own, as
// always.
std::vector<std::string> reasons_of(std::vector<emu::VirtualMachine> const& machines) {
  std::vector<std::string> reasons;
  for (auto const& machine : machines)
    for (auto const& what : machine.not_expressed)
      if (what.kind != "device" && what.kind != "software" &&
          std::find(reasons.begin(), reasons.end(), what.reason) == reasons.end())
        reasons.push_back(what.reason);
  return reasons;
}

void print_text(std::vector<emu::VirtualMachine> const& machines, emu::Qemu const& qemu) {
  for (auto const& machine : machines) {
    fmt::print("# {}\n{}", machine.name, qemu.program.string());
    for (auto const& word : machine.arguments)
      fmt::print("{}{}", word.starts_with('-') ? " \\\n  " : " ", shell_word(word));
    fmt::print("\n");
    for (auto const& reason : reasons_of({machine})) fmt::print("# not expressed: {}\n", reason);
  }
}

void print_json(std::vector<emu::VirtualMachine> const& machines, emu::Qemu const& qemu) {
  auto nodes = Json::array();
  for (auto const& machine : machines) {
    auto roles = Json::array();
    for (auto const& role : machine.roles)
      roles.push_back({{"bdf", role.bdf}, {"name", role.name}, {"kind", to_string(role.kind)}, {"part", role.part}});
    nodes.push_back({{"name", machine.name},
                     {"arguments", machine.arguments},
                     {"roles", std::move(roles)},
                     {"not_expressed", reasons_of({machine})}});
  }
  Json const text{{"lanewise", "virtual_machines/1"}, {"program", qemu.program.string()}, {"nodes", std::move(nodes)}};
  fmt::print("{}\n", text.dump(2));
}

// Prints the guests' output as it comes; with several guests, whole lines with the node's name before them.
class Output {
 public:
  Output(bool collect, bool several) : collect_(collect), several_(several) {}
  void take(std::size_t node, bool is_error, std::string_view text) {
    auto& so_far = texts_[{node, is_error}];
    so_far += text;
    if (collect_) return;
    auto const whole = several_ ? so_far.rfind('\n') + 1 : so_far.size();
    write(node, is_error, so_far.substr(0, whole));
    so_far.erase(0, whole);
  }
  // Prints what is left of the last lines.
  void finish() {
    if (collect_) return;
    for (auto& [from, text] : texts_)
      if (!text.empty()) write(from.first, from.second, text + (several_ ? "\n" : ""));
    std::fflush(stdout);
  }
  [[nodiscard]] std::string const& collected(std::size_t node, bool is_error) { return texts_[{node, is_error}]; }

 private:
  void write(std::size_t node, bool is_error, std::string const& text) const {
    auto* const stream = is_error ? stderr : stdout;
    for (std::size_t at = 0; at < text.size();) {
      auto const next = several_ ? text.find('\n', at) + 1 : text.size();
      if (several_) fmt::print(stream, "node{}: ", node);
      std::fwrite(text.data() + at, 1, next - at, stream);
      at = next;
    }
    std::fflush(stream);
  }

  bool collect_, several_;
  std::map<std::pair<std::size_t, bool>, std::string> texts_;
};

Json report(emu::EmulationOutcome const& outcome, std::vector<emu::VirtualMachine> const& machines,
            emu::Accelerator accelerator, emu::Kernel const& kernel, Output& output) {
  auto nodes = Json::array();
  for (std::size_t i = 0; i < outcome.nodes.size(); ++i) {
    auto const& node = outcome.nodes[i];
    Json item{{"name", node.name}};
    item["exit_code"] = node.exit_code ? Json(*node.exit_code) : Json();
    item["output"] = output.collected(i, false);
    item["errors"] = output.collected(i, true);
    item["notes"] = node.notes;
    item["not_expressed"] = reasons_of({machines[i]});
    nodes.push_back(std::move(item));
  }
  return {{"lanewise", "emulation/1"},
          {"accelerator", to_string(accelerator)},
          {"kernel", kernel.version},
          {"ready_s", outcome.ready.count()},
          {"command_s", outcome.command.count()},
          {"exit_code", outcome.exit_code},
          {"failure", outcome.failure},
          {"nodes", std::move(nodes)}};
}

void warn(std::string const& text) { fmt::print(stderr, "lanewise emulate: {}\n", text); }

// Sets how long booting may take, and warns when processors of guests share cores.
void set_boot_limit(emu::EmulationOptions& options, EmulateOptions const& given,
                    std::vector<emu::VirtualMachine> const& machines) {
  auto const processors = emu::processors_of(machines);
  auto const cores = emu::cores_of_this_process();
  options.boot_limit =
      given.boot_limit ? std::chrono::seconds(*given.boot_limit) : emu::usual_boot_limit(processors, cores);
  if (processors > cores)
    warn(fmt::format("{} guest{} with {} processors on {} core{}: booting takes longer; its limit is {} s",
                     machines.size(), machines.size() == 1 ? "" : "s", processors, cores, cores == 1 ? "" : "s",
                     options.boot_limit.count()));
}

void emulate(Session& session, EmulateOptions const& given) {
  auto const machine = session.machine();
  auto const hosts = emu::hosts_of(machine, given.nodes);
  auto options = emulation_options(given, hosts.size());
  if (given.interactive && session.json)
    throw InputError("-i shows what comes; --json keeps it for the end: leave one out");
  launch::EmulatorChoice choice;
  choice.accelerator = given.accelerator;
  if (!given.kernel.empty()) choice.kernel = given.kernel;
  if (!given.modules.empty()) choice.modules = given.modules;
  auto const [qemu, kernel, accelerator] = launch::find_emulator(choice, warn);
  options.accelerator = accelerator;
  auto const machines = emu::virtual_machines(machine, hosts, options, qemu, kernel);
  if (given.print) return session.json ? print_json(machines, qemu) : print_text(machines, qemu);
  if (options.command.empty())
    throw InputError("there is nothing to run; give a command after --, -i for a shell, or --print");
  set_boot_limit(options, given, machines);
  for (auto const& reason : reasons_of(machines)) warn(fmt::format("QEMU does not show: {}", reason));
  if (options.input == emu::GuestInputKind::Terminal) warn("Ctrl-] ends the guests, whatever runs in them");
  Output output(session.json, options.run_on.size() > 1);
  auto const outcome = emu::run_in_guests(machines, options, qemu, kernel, [&](auto... what) { output.take(what...); });
  output.finish();
  for (auto const& node : outcome.nodes)
    for (auto const& note : node.notes) warn(fmt::format("{}: {}", node.name, note));
  if (!outcome.failure.empty()) warn(outcome.failure);
  if (session.json)
    fmt::print("{}\n", report(outcome, machines, options.accelerator, kernel, output)
                           .dump(2, ' ', false, Json::error_handler_t::replace));
  session.exit_code = static_cast<ExitCode>(outcome.exit_code);
}

}  // namespace

void add_emulate(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("emulate", "Boot a machine's PCI tree in QEMU and run a command there");
  session.add_machine(*command);
  auto const options = std::make_shared<EmulateOptions>();
  command->add_option("command", options->command, "What to run in the guest, after --")->type_name("COMMAND");
  command
      ->add_option("--nodes", options->nodes,
                   "Number of nodes: the first N of a cluster, or N copies of a single machine")
      ->type_name("N");
  command->add_option("--on", options->on, "Run the command on this node, or on all")
      ->type_name("NODE")
      ->capture_default_str();
  command->add_option("--accel", options->accelerator, "kvm, tcg (plain emulation), or auto: KVM where it works")
      ->check(CLI::IsMember({"auto", "kvm", "tcg"}))
      ->type_name("WHICH")
      ->capture_default_str();
  command->add_option("--memory", options->memory, "Memory of each guest")->type_name("SIZE")->capture_default_str();
  command->add_option("--writable", options->writable, "Let the guests write to this folder of the host")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--boot-timeout", options->boot_limit,
          "Give up when a guest is not ready after so many seconds [120, more where guests' processors share cores]")
      ->check(CLI::Range(1, 86400))
      ->type_name("SECONDS");
  command->add_option("--timeout", options->limit, "Stop the command after so many seconds [600; with -i no limit]")
      ->check(CLI::Range(1, 86400))
      ->type_name("SECONDS");
  command->add_flag("-i,--interactive", options->interactive,
                    "Give the command this terminal, or what is piped in; without a command, a shell");
  command
      ->add_option("--kernel", options->kernel,
                   "Boot this Linux image (bzImage, vmlinuz) instead of the distribution's")
      ->type_name("FILE");
  command
      ->add_option("--modules", options->modules,
                   "The modules of --kernel; default: lib/modules/VERSION beside it, or of this system")
      ->type_name("FOLDER");
  command->add_option("--append", options->kernel_arguments, "Add this to the kernel's command line")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  command
      ->add_option("--qemu-device", options->qemu_devices, "Add this device to the guests, as QEMU's -device takes it")
      ->type_name("DEVICE")
      ->allow_extra_args(false);
  command->add_flag("--print", options->print, "Print QEMU's command lines and run nothing");
  command->callback([&session, options] { emulate(session, *options); });
}

}  // namespace lanewise::cli
