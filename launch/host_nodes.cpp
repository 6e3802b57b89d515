#include "launch/host_nodes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "launch/mpirun.hpp"
#include "process/process.hpp"

namespace lanewise::launch {

NodeRun run_on_host(std::size_t nodes, std::vector<std::string> const& devices, MpiUse use,
                    std::vector<std::string> const& program) {
  std::vector<std::string> words;
  if (geteuid() == 0) words = {"env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"};
  auto const command = mpirun_command(nodes, use, {"--oversubscribe"}, program);
  words.insert(words.end(), command.begin(), command.end());
  auto const start = std::chrono::steady_clock::now();
  auto outcome = run_program(words, kRunLimit);
  std::chrono::duration<double> const elapsed = std::chrono::steady_clock::now() - start;
  return {outcome.in_time ? outcome.code : kTimedOut,
          fmt::format("{} processes on this host ({}; ran {:.0f} s)", nodes, fmt::join(devices, ", "), elapsed.count()),
          std::move(outcome.output)};
}

}  // namespace lanewise::launch
