#include "launch/started_nodes.hpp"

#include <fmt/format.h>

#include "core/verdict/timing_exclusion.hpp"
#include "lanewise/io/error.hpp"
#include "launch/guest_nodes.hpp"
#include "launch/host_nodes.hpp"
#include "launch/mpirun.hpp"
#include "launch/rdma_devices.hpp"
#include "process/temporary_folder.hpp"
#include "process/this_program.hpp"

namespace lanewise::launch {
namespace {

namespace fs = std::filesystem;

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

NodeRun run_nodes(NodeScenarios const& scenarios, std::string const& where, fs::path const& folder,
                  std::vector<std::string> const& check) {
  auto const nodes = scenarios.machine.hosts.size();
  if (where != kNodesEmulated && is_message_cluster(scenarios.machine))
    return run_on_host(nodes, {"MPI"}, MpiUse::Data, check);
  auto const devices = where == kNodesEmulated ? RdmaDevices::none() : RdmaDevices::find_or_add();
  if (!devices.names().empty()) return run_on_host(nodes, devices.names(), MpiUse::Agreement, check);
  if (where == kNodesHere) throw MissingError(devices.reason());
  try {
    return run_on_guests(scenarios.machine, folder, check);
  } catch (MissingError const& error) {
    if (devices.reason().empty()) throw;
    throw MissingError(fmt::format("{}\n{}", devices.reason(), error.what()));
  }
}

}  // namespace

std::vector<RecordedRun> run_on_started_nodes(NodeScenarios const& scenarios, std::string const& where,
                                              std::vector<std::string> const& arguments) {
  require_mpirun();
  TemporaryFolder const folder("nodes");  // for the recorded runs
  auto const record = folder.path() / "runs.json";
  auto const run = run_nodes(scenarios, where, folder.path(), check_command(scenarios, arguments, record));
  if (run.exit_code != 0 || !fs::exists(record))
    throw DeviceError(fmt::format("mpirun of {} on {}", scenarios.cluster, run.nodes), run.exit_code, run.output);
  auto runs = read_recorded_runs(SourceText::load(record.string()));
  for (auto& recorded : runs) recorded.trace.environment[kNodesEnvironmentKey] = run.nodes;
  return runs;
}

}  // namespace lanewise::launch
