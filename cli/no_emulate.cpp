// Stands for emulate.cpp and soft_nodes.cpp where the emulator is not built.
#include <memory>

#include "cli/session.hpp"
#include "core/io/error.hpp"
#include "launch/soft_nodes.hpp"

namespace lanewise::cli {

void add_emulate(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("emulate", "Boot a machine's PCI tree in QEMU (not in this build)");
  session.add_machine(*command);
  command->allow_extras();
  command->callback([] {
    throw MissingError("the emulator is not in this build: it is built on x86-64 Linux, with LANEWISE_EMULATOR=ON");
  });
}

std::vector<RecordedRun> launch::run_on_soft_nodes(NodeScenarios const& scenarios, std::string const&,
                                                   std::vector<std::string> const&) {
  throw MissingError("this build starts no nodes (it has no emulator); start one process a node of " +
                     scenarios.cluster + " by mpirun");
}

}  // namespace lanewise::cli
