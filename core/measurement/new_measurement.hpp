#pragma once
// What a measurement made by `lanewise measure` says of itself before it has figures.
#include <string>

#include "core/measurement/measurement.hpp"
#include "lanewise/machine/machine.hpp"

namespace lanewise {

struct NewMeasurement {
  std::string name;
  std::string machine;  // as the file names it: a bundled machine, or a file from where the measurement is
  std::string version;  // of lanewise
  std::string date;     // 2026-11-24
  int repeat = 1;       // runs of each figure, whose median counts
};

Measurement new_measurement(Machine const& machine, NewMeasurement const& about);

// Reads a measurement to go on with. Throws InputError when it is of another machine or of other settings.
Measurement resumed_measurement(SourceText const& source, Machine const& machine);

}  // namespace lanewise
