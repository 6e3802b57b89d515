#pragma once
#include <stdexcept>

#include "core/machine/machine_file.hpp"
#include "core/measurement/measurement_writer.hpp"

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

// The same of measurements. What is written stands at other places, so the second file is held to the first.
inline void check_reads_back(Measurement const& measurement) {
  auto const written = write_measurement(measurement);
  try {
    auto const again = write_measurement(read_measurement(SourceText::from_memory("written.yaml", written)));
    if (again == written) return;
    throw std::logic_error("a measurement does not read back equal:\n" + written + "\n" + again);
  } catch (Error const& error) {
    throw std::logic_error("a written measurement is refused: " + std::string(error.what()) + "\n" + written);
  }
}

}  // namespace lanewise
