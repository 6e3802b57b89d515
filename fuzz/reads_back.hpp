#pragma once
#include <stdexcept>

#include "core/machine/machine_file.hpp"

namespace lanewise {

// The property of every reader and importer of machines: what it made survives its own file.
inline void check_reads_back(Machine const& machine, Catalogue& catalogue) {
  auto const written = write_machine(machine);
  try {
    if (catalogue.machine_from(SourceText::from_memory("written.yaml", written)) == machine) return;
  } catch (Error const& error) {
    throw std::logic_error("a written machine is refused: " + std::string(error.what()) + "\n" + written);
  }
  throw std::logic_error("a machine does not read back equal:\n" + written);
}

}  // namespace lanewise
