// Stands for emulate.cpp in a build without the emulator.
#include <memory>
#include <string>
#include <vector>

#include "cli/session.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::cli {

void add_emulate(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("emulate", "Boot a machine's PCI tree in QEMU (not in this build)");
  session.add_machine(*command);
  auto const words = std::make_shared<std::vector<std::string>>();
  command->add_option("command", *words);
  command->allow_extras();
  command->callback([words] {
    static_cast<void>(words);  // CLI11 writes there
    throw MissingError("the emulator is not in this build: it is built on x86-64 Linux, with LANEWISE_EMULATOR=ON");
  });
}

}  // namespace lanewise::cli
