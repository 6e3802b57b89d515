#pragma once
#include <stdexcept>

#include "core/interop/machines/machine_output.hpp"
#include "core/measurement/measurement_writer.hpp"

namespace lanewise {

// The property of every reader and importer of machines: a machine file written from what it made reads back as the
// same machine. Throws std::logic_error when it does not.
inline void check_reads_back(Machine const& machine, Catalogue& catalogue) {
  static_cast<void>(checked_yaml(machine, catalogue, "the fuzzed text"));
}

// The same of measurements. Positions differ between the files, so the second file is compared with the first.
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
