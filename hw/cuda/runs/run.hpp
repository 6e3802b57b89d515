#pragma once
#include <string>
#include <vector>

#include "lanewise/plan/executor.hpp"

namespace lanewise::hw {

// A plan prepared on real devices, by streams or by kernels, that can be run any number of times.
class Run {
 public:
  Run() = default;
  Run(Run const&) = delete;
  Run& operator=(Run const&) = delete;
  virtual ~Run() = default;

  // Fills and clears memory, releases everything at once and waits for its end. Times are from the opening of the gate.
  // Throws DeviceError naming what failed.
  virtual RunTimes once() = 0;
  // For each step the first wrong byte of the last run, in words; empty: every byte is right. Checked on the devices.
  [[nodiscard]] virtual std::vector<std::string> mismatches() const = 0;
  // Whether a run began before everything was enqueued, because the driver made the host wait.
  [[nodiscard]] virtual bool began_early() const = 0;
};

}  // namespace lanewise::hw
