// Stands for guest_nodes.cpp in a build without the emulator.
#include "lanewise/io/error.hpp"
#include "launch/guest_nodes.hpp"

namespace lanewise::launch {

NodeRun run_on_guests(Machine const& /*cluster*/, std::filesystem::path const& /*writable*/,
                      std::vector<std::string> const& /*program*/) {
  throw MissingError(
      "nodes in virtual machines need the emulator, which is not in this build: it is built on x86-64 Linux, with "
      "LANEWISE_EMULATOR=ON");
}

}  // namespace lanewise::launch
