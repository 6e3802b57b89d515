#include "launch/soft_nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "core/io/error.hpp"
#include "core/io/json.hpp"
#include "emulator/ssh.hpp"
#include "launch/guests.hpp"
#include "launch/soft_link.hpp"
#include "process/process.hpp"

namespace lanewise::launch {
namespace {

namespace fs = std::filesystem;
namespace emu = lanewise::emulator;
using namespace std::chrono_literals;

// Bounds for what hangs, far above what anything takes: sixteen scenarios are done in a minute or two under emulation.
constexpr auto kBootLimit = 300s;
constexpr auto kRunLimit = 1200s;

// A folder for the runs, gone with the object.
class Folder {
 public:
  Folder() : path_((fs::temp_directory_path() / "lanewise-nodes-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw MissingError("no temporary folder can be made: " + path_);
  }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] fs::path path() const { return path_; }

 private:
  std::string path_;
};

struct Finished {
  int code = 0;
  std::string nodes;   // what they were, for people
  std::string output;  // of all of them
};

// MPI carries nothing but the nodes' agreements: over sockets, for an MPI that looks for RDMA devices would find ours.
std::vector<std::string> mpirun(std::size_t nodes, std::vector<std::string> const& more) {
  std::vector<std::string> words{
      "mpirun", "-n", fmt::format("{}", nodes), "--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--bind-to", "none"};
  words.insert(words.end(), more.begin(), more.end());
  // The verdict on what the nodes record is made here, and mpirun ends all nodes as soon as one ends with a code.
  for (auto const* word : {"sh", "-c", "\"$@\"; test $? -le 1", "sh"}) words.emplace_back(word);
  return words;
}

std::vector<std::string> check_command(NodeScenarios const& scenarios, std::vector<std::string> const& arguments,
                                       fs::path const& record) {
  std::vector<std::string> words{this_program().string(), "check"};
  for (auto const& file : scenarios.files) words.push_back(fs::absolute(file).string());
  for (auto const& word : {std::string("--on"), scenarios.cluster, std::string("--mode"), std::string("hw"),
                           std::string("--record"), record.string()})
    words.push_back(word);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::vector<std::string> joined(std::vector<std::string> first, std::vector<std::string> const& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

void need_mpirun() {
  if (!find_program("mpirun")) throw MissingError("nodes are started by mpirun; the package openmpi-bin provides it");
}

Finished run_here(std::size_t nodes, SoftLink const& link, std::vector<std::string> const& check) {
  std::vector<std::string> words;
  if (geteuid() == 0) words = {"env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
  words = joined(std::move(words), mpirun(nodes, {"--oversubscribe"}));
  auto const began = std::chrono::steady_clock::now();
  auto outcome = run_program(joined(std::move(words), check), kRunLimit);
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
  return {
      outcome.in_time ? outcome.code : emu::kTimedOut,
      fmt::format("{} processes on this host ({}; ran {:.0f} s)", nodes, fmt::join(link.devices(), ", "), took.count()),
      std::move(outcome.output)};
}

Finished run_in_emulator(NodeScenarios const& scenarios, fs::path const& writable,
                         std::vector<std::string> const& check) {
  if (auto const why = emu::SshAccess::missing(); !why.empty()) throw MissingError(why);
  auto const emulator =
      find_emulator("auto", [](std::string const& text) { fmt::print(stderr, "lanewise check: {}\n", text); });
  auto const hosts = emu::hosts_of(scenarios.machine, std::nullopt);
  std::string names;
  for (std::size_t i = 0; i < hosts.size(); ++i) names += fmt::format("{}node{}", i == 0 ? "" : ",", i);
  std::vector<std::string> more{
      "--host", names, "--mca", "oob_tcp_if_include", "management", "--mca", "btl_tcp_if_include", "management"};
  if (std::getenv("LANEWISE_TOPOLOGIES") != nullptr) more.insert(more.end(), {"-x", "LANEWISE_TOPOLOGIES"});
  auto options = guest_options(joined(mpirun(hosts.size(), more), check));
  options.accelerator = emulator.accelerator;
  options.writable = {writable};
  options.boot_limit = kBootLimit;
  options.limit = kRunLimit;
  Finished finished;
  auto const outcome = emu::run_in_guests(
      emu::virtual_machines(scenarios.machine, hosts, options, emulator.qemu, emulator.kernel), options, emulator.qemu,
      emulator.kernel, [&](std::size_t, bool, std::string_view text) { finished.output += text; });
  if (outcome.exit_code >= emu::kSignalled && !outcome.failure.empty()) throw Interrupted(outcome.failure);
  finished.code = outcome.exit_code;
  if (!outcome.failure.empty()) finished.output += "\n" + outcome.failure;
  finished.nodes = fmt::format("{} virtual machines ({}, Linux {}; ready after {:.0f} s, ran {:.0f} s)", hosts.size(),
                               emulator.accelerator == emu::Accelerator::Kvm ? "KVM" : "plain emulation",
                               emulator.kernel.version, outcome.ready.count(), outcome.command.count());
  return finished;
}

}  // namespace

std::vector<RecordedRun> run_on_soft_nodes(NodeScenarios const& scenarios, std::string const& where,
                                           std::vector<std::string> const& arguments) {
  need_mpirun();
  Folder const folder;
  auto const record = folder.path() / "runs.json";
  auto const check = check_command(scenarios, arguments, record);
  auto const link = where == kNodesEmulated ? SoftLink::none() : SoftLink::find_or_add();
  if (where == kNodesHere && link.devices().empty()) throw MissingError(link.why_not());
  Finished finished;
  try {
    finished = link.devices().empty() ? run_in_emulator(scenarios, folder.path(), check)
                                      : run_here(scenarios.machine.hosts.size(), link, check);
  } catch (MissingError const& error) {
    if (link.why_not().empty()) throw;
    throw MissingError(fmt::format("{}\n{}", link.why_not(), error.what()));
  }
  if (finished.code != 0 || !fs::exists(record))
    throw DeviceError(fmt::format("mpirun of {} on {}", scenarios.cluster, finished.nodes), finished.code,
                      finished.output);
  auto runs = recorded_runs_from_json(parse_json(SourceText::load(record.string()), "runs/1"));
  for (auto& run : runs) run.trace.environment[kNodesEnvironmentKey] = finished.nodes;
  return runs;
}

}  // namespace lanewise::launch
