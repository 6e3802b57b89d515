#include "core/measurement/new_measurement.hpp"

#include <fmt/format.h>

#include "lanewise/io/error.hpp"
#include "lanewise/machine/fingerprint.hpp"

namespace lanewise {
namespace {

constexpr char kFingerprintKey[] = "machine_fingerprint";

}  // namespace

Measurement new_measurement(Machine const& machine, NewMeasurement const& about) {
  Measurement measurement;
  measurement.name = about.name;
  measurement.title = fmt::format("{} measured by lanewise", machine.title.empty() ? machine.name : machine.title);
  measurement.machine = about.machine;
  measurement.source = fmt::format("lanewise measure {}", about.version);
  measurement.date = about.date;
  measurement.method =
      machine.hosts.size() > 1
          ? fmt::format(
                "medians of {}; single transfers one after the other, of which each begins when the sender knows "
                "that the one before has arrived; patterns begun together by the nodes' clocks; every byte checked",
                about.repeat)
          : fmt::format(
                "medians of {}; single transfers back to back in one stream between two events, behind a gate; "
                "patterns released together by a gate on every GPU; every byte checked on the device",
                about.repeat);
  measurement.grade = "A";
  measurement.environment[kFingerprintKey] = fingerprint(machine);
  return measurement;
}

Measurement resumed_measurement(SourceText const& source, Machine const& machine) {
  auto measurement = read_measurement(source);
  auto const recorded = measurement.environment.find(kFingerprintKey);
  if (recorded == measurement.environment.end() || recorded->second != fingerprint(machine))
    throw InputError(source.name() + " is of another machine or other settings; it cannot be gone on with");
  return measurement;
}

}  // namespace lanewise
