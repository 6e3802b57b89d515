#include "launch/guest_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "emulator/ssh.hpp"
#include "lanewise/io/error.hpp"
#include "launch/guests.hpp"
#include "launch/mpirun.hpp"

namespace lanewise::launch {
namespace {

namespace emu = lanewise::emulator;

constexpr std::chrono::seconds kBootLimit{300};

void warn(std::string const& text) { fmt::print(stderr, "lanewise check: {}\n", text); }

// The guests run mpirun over the management network, which joins all of them.
std::vector<std::string> guest_options_of_mpirun(std::size_t nodes) {
  std::string names;
  for (std::size_t i = 0; i < nodes; ++i) names += fmt::format("{}node{}", i == 0 ? "" : ",", i);
  std::vector<std::string> options{
      "--host", names, "--mca", "oob_tcp_if_include", "management", "--mca", "btl_tcp_if_include", "management"};
  if (std::getenv("LANEWISE_TOPOLOGIES") != nullptr) options.insert(options.end(), {"-x", "LANEWISE_TOPOLOGIES"});
  return options;
}

}  // namespace

NodeRun run_on_guests(Machine const& cluster, std::filesystem::path const& writable,
                      std::vector<std::string> const& program) {
  if (auto const why = emu::SshAccess::missing(); !why.empty()) throw MissingError(why);
  auto const emulator = find_emulator({}, warn);
  auto const hosts = emu::hosts_of(cluster, std::nullopt);
  auto options =
      guest_options(mpirun_command(hosts.size(), MpiUse::Agreement, guest_options_of_mpirun(hosts.size()), program));
  options.accelerator = emulator.accelerator;
  options.writable = {writable};
  options.limit = kRunLimit;
  auto const machines = emu::virtual_machines(cluster, hosts, options, emulator.qemu, emulator.kernel);
  options.boot_limit =
      std::max(kBootLimit, emu::usual_boot_limit(emu::processors_of(machines), emu::cores_of_this_process()));
  NodeRun run;
  auto const run_once = [&] {
    run.output.clear();
    return emu::run_in_guests(machines, options, emulator.qemu, emulator.kernel,
                              [&](std::size_t, bool, std::string_view text) { run.output += text; });
  };
  auto outcome = run_once();
  if (outcome.has_crashed && outcome.has_begun) {
    warn(fmt::format("{}; running once more", outcome.failure));
    for (auto const& entry : std::filesystem::directory_iterator(writable)) std::filesystem::remove_all(entry.path());
    outcome = run_once();
  }
  for (auto const& node : outcome.nodes)
    for (auto const& note : node.notes) warn(fmt::format("{}: {}", node.name, note));
  if (outcome.exit_code >= emu::kSignalled && !outcome.failure.empty()) throw Interrupted(outcome.failure);
  run.exit_code = outcome.exit_code;
  if (!outcome.failure.empty()) run.output += "\n" + outcome.failure;
  run.nodes = fmt::format("{} virtual machines ({}, Linux {}; ready after {:.0f} s, ran {:.0f} s)", hosts.size(),
                          emulator.accelerator == emu::Accelerator::Kvm ? "KVM" : "plain emulation",
                          emulator.kernel.version, outcome.ready.count(), outcome.command.count());
  return run;
}

}  // namespace lanewise::launch
