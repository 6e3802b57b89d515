#pragma once
#include <string>
#include <vector>

#include "core/units/quantity.hpp"

namespace lanewise::hw {

// Of one run; times from the common release.
struct StepTimes {
  Seconds start{0};
  Seconds end{0};
};
struct RunTimes {
  std::vector<StepTimes> steps;
  Seconds makespan{0};
};

// A plan laid out on real devices, by streams or by programs, run as often as wanted.
class Run {
 public:
  Run() = default;
  Run(Run const&) = delete;
  Run& operator=(Run const&) = delete;
  virtual ~Run() = default;

  // Fills and clears memory, lets everything begin together and waits. Throws DeviceError naming what failed.
  virtual RunTimes once() = 0;
  // For each step the first wrong byte, in words; empty: all are right. Checked on the devices.
  [[nodiscard]] virtual std::vector<std::string> mismatches() const = 0;
  // Whether a run had to begin before everything was enqueued, because the driver made the host wait.
  [[nodiscard]] virtual bool began_early() const = 0;
};

}  // namespace lanewise::hw
